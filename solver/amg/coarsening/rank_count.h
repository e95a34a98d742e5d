#pragma once

#include <cstdint>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/row_values.h"
#include "solver/levels/gathering.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Rows of a coarse level and of the finer one, of all ranks; rows of nodes as the rows of a scalar
/// problem that have as many entries.
struct LevelRows {
  spmv::GlobalIndex fine = 0;
  spmv::GlobalIndex coarse = 0;
};

/// Entries of P and of the coarse couplings for each node; 1 where rows are no nodes.
struct NodeWeights {
  std::int64_t fine = 1;  // rows of a node × vectors, as in P and A·P
  std::int64_t coarse = 1;  // vectors × vectors, as two nodes couple
};

/// Modelled seconds of a coarse level, from set-up to the end of a solution, on several ranks:
/// work, and an exchange for each product. `latency_seconds`: of an exchange.
double modelled_seconds_on_ranks(LevelRows rows, std::int64_t ranks, double latency_seconds);

/// The same on one rank, to which rows and residuals travel from the `fine_ranks` of the finer
/// level.
double modelled_seconds_on_one(LevelRows rows, std::int64_t fine_ranks);

/// Rows of a finer level that may all go to one rank: more would cost memory, and hardly any link
/// is so slow that it would pay.
inline constexpr spmv::GlobalIndex most_gathered_rows = 100'000;

/// `rows_a_rank`: 0: 1000, unless a model finds one rank quicker.
Gathering gathering_of(spmv::GlobalIndex rows_a_rank);

/// The number of ranks of a coarse level: as many as leave `gathering.least_rows` for each. Where
/// that number is not given, a level moves to one rank if the model finds that quicker with the
/// latency of exchanges of the finer level. Fewer ranks, but more than one, would exchange as
/// often. No bit depends on it.
///
/// `fine`, `coarse_rows`: of nodes, or of rows. `values`: of the finer level, complete; renewed
/// where the latency matters, which `gathering` then has. Collective. Thread: the main thread,
/// outside the team.
std::int64_t collective_rank_count(Gathering& gathering, const comm_thread::Crew& crew,
                                   const LevelMatrix& fine, spmv::GlobalIndex coarse_rows,
                                   NodeWeights weights, RowValues<spmv::GlobalIndex>& values);

}  // namespace weft::solver::amg
