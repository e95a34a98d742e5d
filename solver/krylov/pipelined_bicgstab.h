#pragma once

#include <memory>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/least_iterate.h"
#include "solver/krylov/method.h"

namespace weft::solver {

/// Bicgstab whose two reductions an iteration travel while the products, and M before them, work.
///
///     p, s = A·M·p, z = A·M·s ─► q, y = A·M·q ─► sums of y, s, z ──► reduction ────────►│
///                                                v = A·M·z (its halo too)               │ ω
///     x, r, w = A·M·r ─► sums of r, w ──► reduction ──────────────────►│
///                                         t = A·M·w (its halo too)     │ β, α
///
/// s, z, r, w are carried by recurrences, whose rounding adds up: less residual can be gained than
/// by Bicgstab before the method begins again from the true one. With a preconditioner, M times
/// r, w, s and z are carried as well (marked ^).
///
/// Bytes per row and iteration besides the two products: 288; with another M 464 besides M.
/// Source: Cools and Vanroose 2017, "The communication-hiding pipelined BiCGstab method for the
/// parallel solution of large unsymmetric linear systems", algorithms 9 and 11.
class PipelinedBicgstab final : public KrylovMethod {
 public:
  static constexpr MethodFacts facts{
      .name = "bicgstab-pipelined",
      .summary = "Cools-Vanroose: its reductions travel beside the products",
      .reductions = 2,
      .products = 2,
      .arrays = {10, 14, 14},
      .carried = {7, 9, 9},
      .vector_bytes = {288, 464, 464},
      .flops = {48, 50, 48},
      .flops_per_nonzero = 4,
      .hides_reduction = true};
  MethodNeeds needs() const override { return facts.needs(use()); }

  PipelinedBicgstab(spmv::LinearOperator& op, Options options);

 private:
  /// Scalars that are known between two steps; every thread has the same.
  struct State {
    double r = 0, w = 0, s = 0, z = 0;  // norms; s and z of the last step
    double shadow = 0;  // ‖r̂‖
    double rho = 0;  // r̂·r
    double alpha = 0;
    double beta = 0;
    double omega = 0;  // of the last step
    double shadow_dot_s = 0;
    double shadow_dot_z = 0;
    double start_iteration = 0;  // at which the method began from a true residual
  };

  Spare spare() override { return {z_hat_.get(), v_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) override;
  std::vector<double*> carried() override {
    return {x_.data(), r_.data(),      p_hat_.data(), s_.data(),    w(),
            z(),       shadow_.data(), r_hat_.data(), s_hat_.data()};
  }
  State collective_start(const comm_thread::TeamThread& thread, double bound);
  void collective_first_half(const comm_thread::TeamThread& thread, State& state);
  void collective_second_half(const comm_thread::TeamThread& thread, const LeastIterate& iterates,
                              State& state);
  void collective_apply(const comm_thread::TeamThread& thread, const double* from,
                        spmv::Operand& hat, double* product);
  void advance_directions(const State& state, std::size_t i, std::int64_t count);
  void advance_iterate(const State& state, const LeastIterate& iterates, std::size_t i,
                       std::int64_t count);
  bool collective_restart(const comm_thread::TeamThread& thread, LeastIterate& iterates,
                          State& state, Solve& solve);
  void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction, Solve& solve,
                            State& state);
  void set_omega(State& state) const;
  static void set_step(State& state, double rho, double shadow_dot_w);
  double* w() { return is_identity() ? w_hat_->values() : w_.data(); }
  double* z() { return is_identity() ? z_hat_->values() : z_.data(); }

  double norm_;  // bound of ‖A·M‖
  comm_thread::ReproducibleSum stabilizer_;  // q·y, y·y, q·q, r̂·s, r̂·z, s·s, z·z
  comm_thread::ReproducibleSum residual_;  // r·r, r̂·r, r̂·w, w·w
  std::unique_ptr<spmv::Operand> w_hat_;  // M·w; w itself with the identity
  std::unique_ptr<spmv::Operand> z_hat_;
  Array shadow_;  // r̂
  Array r_;  // then q
  Array p_hat_;
  Array s_;
  Array t_;
  Array v_;
  Array other_x_;
  Array r_hat_;  // then M·q; empty with the identity, as all below
  Array s_hat_;
  Array w_;  // then y
  Array z_;
};

}  // namespace weft::solver
