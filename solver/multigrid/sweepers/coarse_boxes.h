#pragma once

#include <cstddef>
#include <vector>

#include "solver/multigrid/grids/grid_level.h"
#include "spmv/grid/box.h"
#include "spmv/grid/partition.h"

namespace weft::solver {

/// The points of the coarser grids that one rank deals with in asynchronous multigrid. Each rank
/// has its part of the grids before `gathered`; rank 0 solves on that grid.
///
///     shares      where what the rank adds to a right-hand side is not 0: its own points and few
///                 beside them
///     corrected   where it computes the solution: its own points and those from which the finer
///                 grid's are interpolated
///     needed      where the smoothing of these needs the right-hand side
struct CoarseBoxes {
  /// `halo_depth`: of the finest grid.
  CoarseBoxes(const std::vector<GridLevel>& levels, const spmv::GridPartition& partition, int rank,
              int halo_depth, int steps, std::size_t gathered);

  /// By grid, the finest first. `shares` and `corrected` have boxes from grid 1 to grid `gathered`,
  /// `needed` from grid 1 to the one before that.
  std::vector<spmv::GridBox> shares;
  std::vector<spmv::GridBox> corrected;
  std::vector<spmv::GridBox> needed;
};

/// The first grid that is solved by rank 0: every rank keeps its part of a grid as long as what it
/// needs of the right-hand side is its own or of the ranks beside it.
std::size_t first_gathered(const std::vector<GridLevel>& levels,
                           const spmv::GridPartition& partition, int halo_depth, int steps);

}  // namespace weft::solver
