#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/least_iterate.h"
#include "solver/krylov/method.h"

namespace weft::solver {

/// Stabilized biconjugate gradients for any matrix, preconditioned from the right by any M.
///
///     p = r + β·(p − ω·v);  v = A·M·p;  α = ρ/(r̂·v);  s = r − α·v
///     t = A·M·s;  ω = (t·s)/(t·t);  x += α·M·p + ω·M·s;  r = s − ω·t;  β = (r̂·r/ρ)·(α/ω)
///
/// Two products and three reductions an iteration; memory does not grow with the iterations. r and
/// s share an array. Where ρ, r̂·v or ω vanishes, the recurrence cannot go on: the method begins
/// again from the true residual, and the report counts it; where that leads to no iteration, it is
/// a breakdown. A breakdown leaves the x with the least residual.
///
/// Bytes per row and iteration besides the two products: 184; with another M 232 besides M; 8 more
/// after an iteration that left a smaller residual than all before.
/// Source: van der Vorst 1992, "Bi-CGSTAB".
class Bicgstab final : public KrylovMethod {
 public:
  static constexpr MethodFacts facts{
      .name = "bicgstab",
      .summary = "for any matrix, with few vectors; may stagnate where gmres does not",
      .reductions = 3,
      .products = 2,
      .arrays = {7, 9, 9},
      .carried = {5, 5, 5},
      .vector_bytes = {184, 232, 232},
      .flops = {28, 30, 28},
      .flops_per_nonzero = 4};
  MethodNeeds needs() const override { return facts.needs(use()); }

  /// A cosine below this is rounding.
  static constexpr double least_cosine = 8 * std::numeric_limits<double>::epsilon();

  Bicgstab(spmv::LinearOperator& op, Options options);

 private:
  /// Scalars that are known between two steps; every thread has the same.
  struct State {
    double r = 0;  // ‖r‖
    double shadow = 0;  // ‖r̂‖
    double rho = 0;  // r̂·r
    double p = 0;  // ‖p‖, ‖v‖ of the last step
    double v = 0;
    double beta = 0;
    double omega = 0;
    double before = 0;  // ‖r‖ before the last step
    double start_iteration = 0;  // at which the method began from a true residual
  };

  Spare spare() override { return {p_hat_.get(), v_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) override;
  std::vector<double*> carried() override {
    return {x_.data(), p(), r(), v_.data(), shadow_.data()};
  }
  State collective_start(const comm_thread::TeamThread& thread, double bound);
  bool collective_step(const comm_thread::TeamThread& thread, LeastIterate& iterates, State& state);
  double collective_first_half(const comm_thread::TeamThread& thread, State& state);
  void collective_second_half(const comm_thread::TeamThread& thread, double alpha, double s_bound,
                              const LeastIterate& iterates, State& state);
  double collective_find_omega(const comm_thread::TeamThread& thread, double s_bound,
                               spmv::BinnedSum& s_square, State& state);
  bool collective_restart(const comm_thread::TeamThread& thread, bool is_step_done,
                          LeastIterate& iterates, State& state, Solve& solve);
  void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction, Solve& solve,
                            State& state);
  void collective_precondition(const comm_thread::TeamThread& thread, const double* from,
                               double* to);
  double* p() { return is_identity() ? p_hat_->values() : p_.data(); }
  double* r() { return is_identity() ? r_hat_->values() : r_.data(); }

  double norm_;  // bound of ‖A·M‖
  comm_thread::ReproducibleSum direction_;  // r̂·v, v·v, p·p
  comm_thread::ReproducibleSum stabilizer_;  // t·s, t·t, s·s
  comm_thread::ReproducibleSum residual_;  // r·r, r̂·r
  std::unique_ptr<spmv::Operand> p_hat_;  // M·p
  std::unique_ptr<spmv::Operand> r_hat_;  // M·s
  Array shadow_;  // r̂
  Array v_;
  Array t_;
  Array other_x_;
  Array p_;  // empty with the identity, as r_
  Array r_;
};

}  // namespace weft::solver
