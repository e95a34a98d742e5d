#pragma once

#include "solver/multigrid/couplings/coupling_view.h"
#include "spmv/grid/diffusion_operator.h"

namespace weft::solver {

/// The couplings of an operator without a matrix at the points of this rank's box, to the last bit
/// those that `collective_matrix_couplings` reads from its matrix.
/// Lifetime: the operator outlives it.
CouplingView operator_couplings(const spmv::DiffusionOperator& op);

}  // namespace weft::solver
