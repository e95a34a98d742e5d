#pragma once

#include <memory>

#include "solver/krylov/method.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

/// Multigrid as a solver: cycles inside Chebyshev's semi-iteration, whose coefficients follow
/// from bounds of the cycle's eigenvalues. It takes as many iterations as conjugate gradients with
/// the same cycle, without a scalar product. The residual is always the true one, so that its norm
/// needs no check at the end.
///
/// Its hierarchy has the precision that `options.multigrid` says. As KrylovMethod, without a
/// preconditioner; it is an object with Levels. Collective. Thread: the main thread, outside the
/// team.
std::unique_ptr<KrylovMethod> collective_make_multigrid_method(spmv::StencilOperator& op,
                                                               KrylovMethod::Options options);

}  // namespace weft::solver
