#pragma once

#include <utility>

#include "solver/krylov/conjugate_gradient.h"

namespace weft::solver {

/// Flexible conjugate gradients: M may be nonsymmetric, or another one in each step.
///
/// β = z·(r − r_before)/(z·r)_before = −α·z·A·p/(z·r)_before. With the identity or a diagonal it is
/// ConjugateGradient. Source: Notay 2000, "Flexible conjugate gradients", FCG(1).
class FlexibleCg final : public ConjugateGradient {
 public:
  static constexpr MethodFacts facts{
      .name = "fcg",
      .summary = "flexible, for preconditioners that are not symmetric",
      .reductions = 2,
      .products = 1,
      .arrays = {4, 4, 5},
      .carried = {3, 3, 4},
      .vector_bytes = {88, 104, 96},
      .flops = {10, 12, 10},
      .needs_symmetric_matrix = true};
  static MethodNeeds needs(const MethodUse& use) {
    return use.is_general() ? facts.needs(use) : ConjugateGradient::facts.needs(use);
  }
  MethodNeeds needs() const override { return needs(use()); }

  FlexibleCg(spmv::LinearOperator& op, Options options)
      : ConjugateGradient(op, std::move(options)) {
    if (general()) z_ = make_array();
  }

 private:
  bool needs_z_dot_q() const override { return true; }
  double beta(const Column& column) const override {
    return general() ? -column.alpha * column.next.z_dot_q / column.norms.r_dot_z
                     : ConjugateGradient::beta(column);
  }
};

}  // namespace weft::solver
