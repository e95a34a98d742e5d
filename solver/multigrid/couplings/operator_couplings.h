#pragma once

#include "solver/multigrid/couplings/grid_couplings.h"
#include "spmv/grid/diffusion_operator.h"

namespace weft::solver {

/// The couplings of an operator without a matrix at the points of this rank's box, to the last bit
/// those that `collective_matrix_couplings` reads from its matrix.
/// Memory: 32 bytes a row. Thread: the main thread, outside the team.
GridCouplings operator_couplings(const spmv::DiffusionOperator& op);

}  // namespace weft::solver
