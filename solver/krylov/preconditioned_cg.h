#pragma once

#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/textbook_cg.h"
#include "solver/precondition/inverse_operator.h"

namespace weft::solver {

/// The textbook's conjugate gradients with any preconditioner M, also flexible.
/// Two reductions an iteration; bytes per row besides the matrix and M: 96.
class PreconditionedCg final : public TextbookCg {
 public:
  /// As KrylovMethod. `options.inverse` is given.
  PreconditionedCg(spmv::LinearOperator& op, Options options, bool is_flexible);

  double vector_bytes() const override { return 96; }

 private:
  Spare spare() override { return {*p_, q_.data()}; }
  Norms collective_start(const comm_thread::TeamThread& thread, std::span<const double> b,
                         double bound) override;
  double collective_advance(const comm_thread::TeamThread& thread, const Step& last,
                            const Norms& norms) override;
  Norms collective_update_residual(const comm_thread::TeamThread& thread, double alpha,
                                   const Norms& norms) override;
  void finish(const comm_thread::TeamThread& thread, double alpha) override;
  double inverse_norm() const override { return options().inverse->norm(); }
  bool is_flexible() const override { return is_flexible_; }
  Norms collective_precondition(const comm_thread::TeamThread& thread, double square_bound);

  bool is_flexible_;
  double norm_;  // ‖A‖ at most
  comm_thread::ReproducibleSum curvature_;  // p·A·p
  comm_thread::ReproducibleSum sums_;  // r·r, r·z, z·q
  std::unique_ptr<spmv::Operand> p_;
  Array r_;
  Array q_;
  Array z_;
};

}  // namespace weft::solver
