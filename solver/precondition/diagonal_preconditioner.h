#pragma once

#include <cstddef>

#include "perfmodel/huge_page_buffer.h"
#include "solver/precondition/inverse_diagonal.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// Jacobi's preconditioner: M = D⁻¹, D the main diagonal of A.
class DiagonalPreconditioner final : public Preconditioner {
 public:
  /// Collective. Thread: the main thread, outside the team. `op` outlives it. Throws
  /// comm_thread::InputError on every rank if the diagonal has a zero.
  explicit DiagonalPreconditioner(const spmv::LinearOperator& op)
      : op_(op),
        inverse_(collective_invert_diagonal(op, 1, "the preconditioner jacobi")),
        diagonal_(op.element_count()),
        norm_(collective_largest(op, inverse_.span())) {
    op.copy_diagonal(diagonal_.span());
  }

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override {
    op_.for_each_element(thread.index, [&](std::size_t i) { z[i] = inverse_[i] * r[i]; });
    thread.barrier();
  }
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return true; }
  const DiagonalPreconditioner* as_diagonal() const override { return this; }

  /// D and D⁻¹. Shape: [element_count].
  const double* diagonal() const { return diagonal_.data(); }
  const double* inverse() const { return inverse_.data(); }

 private:
  const spmv::LinearOperator& op_;
  perfmodel::HugePageBuffer<double> inverse_;
  perfmodel::HugePageBuffer<double> diagonal_;
  double norm_;
};

}  // namespace weft::solver
