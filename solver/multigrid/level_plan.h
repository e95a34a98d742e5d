#pragma once

#include <memory>
#include <span>
#include <vector>

#include "solver/multigrid/couplings/grid_couplings.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/grids/level_cuts.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/stencil.h"

namespace weft::solver {

/// One grid of a cycle: its operator, and which rank has which box of it.
template <class Value>
struct LevelPlan {
  GridLevel grid;
  LevelCuts cuts;
  LevelCuts finer_cuts;  // as the ranks of the next finer grid have its points
  std::unique_ptr<LevelCouplings<Value>> couplings{};  // where they vary, of all grids but the last
  std::unique_ptr<GridCouplings> coarsest{};  // where they vary, of the last grid on its rank
};

/// Points of the coarsest grid at most: a direct solution takes less than 0.1 ms. A full start
/// needs so many: from a grid of 3³ points its errors would not be smooth enough.
inline constexpr spmv::GlobalIndex coarsest_points = 1000;

/// The cuts of a grid that the ranks of the next finer one have cut as `finer`. The finest grid is
/// never moved; the last is on one rank; others move to fewer ranks where one has fewer than
/// `least_points` in a direction that is cut.
LevelCuts planned_cuts(const LevelCuts& finer, bool is_finest, bool is_last,
                       spmv::GlobalIndex least_points);

/// `grids` of a cycle, the finest first, and their cuts.
template <class Value>
std::vector<LevelPlan<Value>> planned_levels(std::span<const GridLevel> grids,
                                             const spmv::GridPartition& partition,
                                             spmv::GlobalIndex least_points) {
  std::vector<LevelPlan<Value>> levels;
  for (const GridLevel& grid : grids) {
    const bool is_finest = levels.empty();
    const LevelCuts finer = is_finest ? LevelCuts(partition)
                                      : levels.back().cuts.coarse(levels.back().grid.is_coarsened);
    levels.push_back({.grid = grid,
                      .cuts = planned_cuts(finer, is_finest, &grid == &grids.back(), least_points),
                      .finer_cuts = finer});
  }
  return levels;
}

/// All grids of a cycle, the finest first.
template <class Value>
struct GridPlan {
  std::vector<LevelPlan<Value>> levels;
  double inverse_norm = 1;  // estimate of ‖A⁻¹‖
};

/// ‖A⁻¹‖ of a stencil, or somewhat more.
double inverse_norm(const spmv::GridStencil& stencil);

/// The plan for constant coefficients.
template <class Value>
GridPlan<Value> plan_constant(const spmv::GridStencil& stencil,
                              const spmv::GridPartition& partition,
                              spmv::GlobalIndex least_points) {
  return {.levels =
              planned_levels<Value>(grid_levels(stencil, coarsest_points), partition, least_points),
          .inverse_norm = inverse_norm(stencil)};
}

}  // namespace weft::solver
