#pragma once

#include "solver/report/stop_criterion.h"
#include "spmv/grid/stencil.h"

namespace weft::solver {

/// About how many iterations the methods need on a grid, so that variants of CG, which need many
/// quick ones, and multigrid, which needs few slow ones, can be compared.
///
/// `is_multigrid`: multigrid as the method or the preconditioner; else CG without one. Multigrid
/// gains a digit an iteration, whatever the grid. CG needs at most √κ/2·ln(2/tolerance),
/// κ the condition number, which is known for Dirichlet boundaries; right-hand sides of practice
/// take a third to a half of that, so half of it is given.
double forecast_iterations(bool is_multigrid, const spmv::GridStencil& stencil,
                           const StopCriterion& stop);

}  // namespace weft::solver
