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

}  // namespace weft::solver
