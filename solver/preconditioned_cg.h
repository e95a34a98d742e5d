#pragma once

#include <memory>
#include <span>

#include "comm_thread/reproducible_sum.h"
#include "solver/inverse_operator.h"
#include "solver/krylov_method.h"

namespace weft::solver {

/// Conjugate gradients as in the textbook, with any preconditioner M; or flexible, whose M need be
/// neither symmetric nor the same in every iteration.
///
/// Two reductions an iteration; bytes per row besides the matrix and M: 96.
///     flexible:  β = z·(r − r_before)/(z·r)_before = −α·z·A·p/(z·r)_before
/// Source: Hestenes and Stiefel 1952; Notay 2000, "Flexible conjugate gradients", FCG(1).
class PreconditionedCg final : public KrylovMethod {
 public:
  /// As KrylovMethod. `options.inverse` is given.
  PreconditionedCg(spmv::LinearOperator& op, Options options, bool is_flexible);

  SolveReport solve_in_team(const comm_thread::TeamThread& thread,
                            std::span<const double> b) override;
  double vector_bytes() const override { return 96; }

 private:
  /// Of the residual and z = M·r.
  struct Norms {
    double r = 0;  // ‖r‖
    double r_dot_z = 0;
    double z_dot_q = 0;  // q = A·p of the step before
    double p_bound = 0;  // ‖p‖ at most
  };

  Spare spare() override { return {*p_, q_.data()}; }
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
