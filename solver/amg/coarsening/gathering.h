#pragma once

#include <cstdint>
#include <optional>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/row_values.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {

/// Rows of a coarse level and of the finer one, of all ranks; rows of nodes as the rows of a scalar
/// problem that have as many entries.
struct LevelRows {
  spmv::GlobalIndex fine = 0;
  spmv::GlobalIndex coarse = 0;
};

/// What a node counts for: 1 where rows are no nodes.
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

/// On how many ranks the levels of a hierarchy are. No bit depends on it.
///
/// As many as leave a number of rows for each. Where that number is not given, it is 1000, and a
/// level moves to one rank if the model finds that quicker with the latency of exchanges of the
/// finer level. Fewer ranks, but more than one, would exchange as often.
class Gathering {
 public:
  /// Of a finer level whose rows may all go to one rank: more would cost memory, and hardly any
  /// link is so slow that it would pay.
  static constexpr spmv::GlobalIndex most_fine_rows = 100'000;

  /// `rows_a_rank`: 0: chosen as above.
  explicit Gathering(spmv::GlobalIndex rows_a_rank) : given_rows_(rows_a_rank) {}

  /// Ranks of a coarse level. `fine`, `coarse_rows`: of nodes, or of rows. `values`: of the finer
  /// level, complete; renewed where the latency matters. Collective. Thread: the main thread,
  /// outside the team.
  std::int64_t collective_rank_count(const comm_thread::Crew& crew, const LevelMatrix& fine,
                                     spmv::GlobalIndex coarse_rows, NodeWeights weights,
                                     RowValues<spmv::GlobalIndex>& values);

  bool is_given() const { return given_rows_ > 0; }
  spmv::GlobalIndex rows_a_rank() const { return is_given() ? given_rows_ : usual_rows; }
  /// The last one measured; nothing where no level's ranks depend on it.
  std::optional<double> latency_seconds() const { return latency_seconds_; }

 private:
  static constexpr spmv::GlobalIndex usual_rows = 1000;

  spmv::GlobalIndex given_rows_;
  std::optional<double> latency_seconds_{};
};

}  // namespace weft::solver::amg
