#pragma once

#include <memory>

#include "solver/krylov/method.h"
#include "solver/levels/level_report.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

/// Multigrid as a solver: cycles inside Chebyshev's semi-iteration, whose coefficients follow
/// from bounds of the cycle's eigenvalues. It takes as many iterations as conjugate gradients with
/// the same cycle, without a scalar product. The residual is always the true one, so that its norm
/// needs no check at the end.
class MultigridMethod : public KrylovMethod, public Levels {
 public:
  static constexpr MethodFacts facts{
      .name = "multigrid",
      .summary = "cycles on the grids of a problem in a Chebyshev iteration",
      .reductions = 1,
      .products = 1,
      .needs_symmetric_matrix = true,
      .needs_symmetric_preconditioner = true,
      .needs_grid = true};
  /// With other ranks, values of the halo are there several points deep.
  static MethodNeeds needs(const MethodUse& use);
  MethodNeeds needs() const override { return needs(use()); }

 protected:
  using KrylovMethod::KrylovMethod;
};

/// With a hierarchy of the precision that `options.multigrid` says. As KrylovMethod, without a
/// preconditioner. Collective. Thread: the main thread, outside the team.
std::unique_ptr<MultigridMethod> collective_make_multigrid_method(spmv::StencilOperator& op,
                                                                  KrylovMethod::Options options);

}  // namespace weft::solver
