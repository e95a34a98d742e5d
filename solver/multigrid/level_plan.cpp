#include "solver/multigrid/level_plan.h"

#include <cmath>
#include <numbers>

namespace weft::solver {

LevelCuts planned_cuts(const LevelCuts& finer, bool is_finest, bool is_last,
                       spmv::GlobalIndex least_points) {
  if (is_finest) return finer;
  return is_last ? finer.on_one_rank() : finer.gathered(least_points);
}

double inverse_norm(const spmv::GridStencil& stencil) {
  const auto smallest = [](spmv::GlobalIndex size) {
    return 2 - 2 * std::cos(std::numbers::pi / static_cast<double>(size + 1));
  };
  const double value = stencil.weights[0] * smallest(stencil.grid.x) +
                       stencil.weights[1] * smallest(stencil.grid.y) +
                       stencil.weights[2] * smallest(stencil.grid.z);
  return 1 / value;
}

template <class Value>
GridPlan<Value> plan_constant(const spmv::GridStencil& stencil,
                              const spmv::GridPartition& partition,
                              spmv::GlobalIndex least_points) {
  GridPlan<Value> plan{.levels = {}, .inverse_norm = inverse_norm(stencil)};
  LevelCuts cuts(partition);
  const std::vector<GridLevel> grids = grid_levels(stencil, coarsest_points);
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const LevelCuts finer = i > 0 ? cuts.coarse(grids[i - 1].is_coarsened) : cuts;
    cuts = planned_cuts(finer, i == 0, i + 1 == grids.size(), least_points);
    plan.levels.push_back({.grid = grids[i],
                           .cuts = cuts,
                           .finer_cuts = finer,
                           .couplings = nullptr,
                           .coarsest = nullptr});
  }
  return plan;
}

template GridPlan<float> plan_constant(const spmv::GridStencil&, const spmv::GridPartition&,
                                       spmv::GlobalIndex);
template GridPlan<double> plan_constant(const spmv::GridStencil&, const spmv::GridPartition&,
                                        spmv::GlobalIndex);

}  // namespace weft::solver
