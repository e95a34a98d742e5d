#pragma once

#include <cstddef>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/independent_set.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/rank_count.h"
#include "solver/amg/coarsening/row_values.h"
#include "solver/amg/coarsening/strong_rows.h"
#include "solver/levels/gathering.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// The aggregates of a level, each of which becomes a row of the next. A root takes its neighbours;
/// a row between aggregates joins the one to which it is coupled most in sum.
///
///     6×6 tridiagonal, roots 1 and 4     aggregate 0: rows 0 1 2,  aggregate 1: rows 3 4 5
///
/// Aggregates are numbered in the order of their roots' global rows, and belong to the rank of the
/// root, or, where there are few, to the first of some neighbouring ranks: that moves a level to
/// fewer ranks and changes no bit. Rows without strong couplings are in none.
class Aggregates {
 public:
  static constexpr spmv::GlobalIndex none = -1;

  /// `gathering`: says how many ranks are left; `weights`: as it takes them.
  /// Collective. Thread: the main thread, outside the team.
  Aggregates(const comm_thread::Crew& crew, const LevelMatrix& level, const StrongRows& strong,
             const IndependentSet& roots, Gathering& gathering, NodeWeights weights = {});

  /// The aggregate of a row of this rank or its halo, or `none`.
  spmv::GlobalIndex of(std::size_t row) const { return numbers_[row]; }
  /// Which rank has which aggregates, and which their roots.
  const spmv::RowPartition& partition() const { return partition_; }
  const spmv::RowPartition& roots() const { return roots_; }

 private:
  /// How many roots each rank has.
  std::vector<spmv::GlobalIndex> collective_number_roots(const comm_thread::Crew& crew,
                                                         const LevelMatrix& level,
                                                         const IndependentSet& roots);
  void take_neighbours(const StrongRows& strong, const IndependentSet& roots, std::size_t row);
  spmv::GlobalIndex best_neighbour(const StrongRows& strong, std::size_t row) const;

  RowValues<spmv::GlobalIndex> numbers_;
  spmv::RowPartition roots_;
  spmv::RowPartition partition_;
};

}  // namespace weft::solver::amg
