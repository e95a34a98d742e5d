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
