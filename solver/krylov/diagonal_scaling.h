#pragma once

#include "solver/krylov/inverse_diagonal.h"
#include "solver/krylov/method.h"

namespace weft::solver {

/// D and D⁻¹ of an operator, for methods that keep u = D⁻¹·r and know r = D·u; both 1 where there
/// is no preconditioner.
class DiagonalScaling {
 public:
  /// Collective. Throws comm_thread::InputError where the diagonal has a zero.
  DiagonalScaling(const spmv::LinearOperator& op, Preconditioner preconditioner,
                  const std::string& method) {
    if (preconditioner == Preconditioner::none) return;
    inverse_ = collective_invert_diagonal(op, 1, method);
    diagonal_ = perfmodel::HugePageBuffer<double>(op.element_count());
    op.copy_diagonal(diagonal_.span());
    inverse_norm_ = collective_largest(op, inverse_.span());
  }

  bool is_one() const { return inverse_.data() == nullptr; }
  /// From element `begin` on; null where it is 1.
  const double* diagonal(std::size_t begin) const {
    return is_one() ? nullptr : diagonal_.data() + begin;
  }
  const double* inverse(std::size_t begin) const {
    return is_one() ? nullptr : inverse_.data() + begin;
  }
  /// ‖D⁻¹‖.
  double inverse_norm() const { return inverse_norm_; }

 private:
  perfmodel::HugePageBuffer<double> inverse_;
  perfmodel::HugePageBuffer<double> diagonal_;
  double inverse_norm_ = 1;
};

}  // namespace weft::solver
