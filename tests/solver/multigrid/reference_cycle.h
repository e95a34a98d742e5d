#pragma once

#include <vector>

#include "solver/multigrid/grids/grid_level.h"

namespace weft::tests {

/// z of a V-cycle in double precision in loops over points, one operation at a time: the oracle of
/// the fused passes. `r`: of the finest grid, whose couplings are `scale` times those of its level.
/// `steps`: of the smoother.
std::vector<double> apply_reference_cycle(std::vector<solver::GridLevel> levels, int steps,
                                          std::vector<double> r);

}  // namespace weft::tests
