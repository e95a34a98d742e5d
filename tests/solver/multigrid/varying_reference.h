#pragma once

#include <vector>

#include "spmv/grid/grid_box.h"
#include "spmv/problems/problem.h"

namespace weft::tests {

/// z of a V-cycle for couplings that vary, in double precision in loops over points, one operation
/// at a time: the oracle of the set-up and of the fused passes. `finest_steps`: of the smoother on
/// the finest grid, `steps`: on the others.
std::vector<double> apply_varying_reference(const spmv::Problem& problem,
                                            spmv::GlobalIndex coarsest_points, int finest_steps,
                                            int steps, const std::vector<double>& r);

}  // namespace weft::tests
