#pragma once

#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/textbook_cg.h"

namespace weft::solver {

/// The textbook's conjugate gradients for any operator, plain or preconditioned with the diagonal.
///
/// Three passes and two reductions an iteration; bytes per row besides the matrix:
///
///     x += α p, p = z + β p     read x, p, r, write x, p                      40   (+8 for D⁻¹)
///     q = A·p, p·q              read p, write q (16 with write-allocate)      8 + 16
///     r -= α q, r·r             read r, q, write r                            24   (+8 for D⁻¹)
///
/// 88 in all, against 120 and more where each vector operation is a loop of its own: the update of
/// x waits for the pass that reads p anyway, and z = D⁻¹ r is never stored. On grids TwoPassCg
/// makes do with 64.
class ConjugateGradient final : public TextbookCg {
 public:
  /// As KrylovMethod. Throws comm_thread::InputError on every rank when Jacobi preconditioning
  /// meets a diagonal entry that is zero.
  ConjugateGradient(spmv::LinearOperator& op, Options options);

  double vector_bytes() const override { return inverse_diagonal_.data() ? 104 : 88; }

 private:
  Spare spare() override { return {*p_, q_.data()}; }
  Norms collective_start(const comm_thread::TeamThread& thread, std::span<const double> b,
                         double bound) override;
  double collective_advance(const comm_thread::TeamThread& thread, const Step& last,
                            const Norms& norms) override;
  Norms collective_update_residual(const comm_thread::TeamThread& thread, double alpha,
                                   const Norms& norms) override;
  void finish(const comm_thread::TeamThread& thread, double alpha) override;
  double inverse_norm() const override { return inverse_norm_; }
  Norms collective_norms(const comm_thread::TeamThread& thread, const ResidualSums& sums);
  const double* inverse_diagonal(std::size_t element) const {
    return inverse_diagonal_.data() ? inverse_diagonal_.data() + element : nullptr;
  }

  double norm_;  // ‖A‖ at most
  double inverse_norm_ = 1;  // ‖D⁻¹‖
  comm_thread::ReproducibleSum curvature_;  // p·A·p
  comm_thread::ReproducibleSum residual_;  // r·r, r·z
  std::unique_ptr<spmv::Operand> p_;
  Array r_;
  Array q_;
  Array inverse_diagonal_;  // empty without a preconditioner
};

}  // namespace weft::solver
