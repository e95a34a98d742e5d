#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/method.h"

namespace weft::solver {

/// MINRES: the least residual in a Krylov space of a symmetric matrix that may be indefinite or
/// singular; a preconditioner M is symmetric positive definite.
///
///     Lanczos   q = A·z_j;  δ = z_j·q;  v = q − δ·v_j − γ_j·v_{j−1};  z = M·v;  γ_{j+1}² = v·z
///     rotation  of the tridiagonal matrix of δ and γ;  w_j from z_j, w_{j−1}, w_{j−2}
///     update    x += c·η·w_j;  r = s²·r − s·η·c·v_{j+1}
///
/// v and z are kept at z·v = 1. Least is √(r·M·r), the norm of the identity without a
/// preconditioner; the residual is carried along beside it, so that the method stops by ‖r‖ all the
/// same. Where A·r is nothing but rounding, x is the least squares solution of an inconsistent
/// system: the method ends as a breakdown and says so. Once the v are no longer orthogonal, A·r may
/// grow again, and x with it without bounds, while the recurrence reduces r: the method keeps an x
/// where A·r is small, looks at b − A·x where r has halved since, and goes back if that has not.
///
/// One product and two reductions an iteration. Bytes per row and iteration besides the product:
/// 192; with another M 240 besides M.
/// Source: Paige and Saunders 1975, "Solution of sparse indefinite systems of linear equations";
/// Elman, Silvester, Wathen 2014, "Finite Elements and Fast Iterative Solvers", algorithm 4.1.
class Minres final : public KrylovMethod {
 public:
  static constexpr MethodFacts facts{
      .name = "minres",
      .summary = "for symmetric matrices that are indefinite or singular",
      .reductions = 2,
      .products = 1,
      .arrays = {9, 10, 10},
      .carried = {7, 7, 7},
      .vector_bytes = {192, 240, 240},
      .flops = {22, 23, 22},
      .needs_symmetric_matrix = true,
      .needs_symmetric_preconditioner = true};
  MethodNeeds needs() const override { return facts.needs(use()); }

  Minres(spmv::LinearOperator& op, Options options);

 private:
  /// Scalars and the roles of arrays between two steps; every thread has the same.
  struct State {
    double* v = nullptr;  // v_j
    double* v_before = nullptr;  // v_{j−1}, then v_{j+1}
    double* w = nullptr;  // w_{j−1}
    double* w_before = nullptr;  // w_{j−2}, then w_j
    double gamma = 0;  // γ_j; 0 at the first step, whose v_{j−1} is 0
    double eta = 0;  // what is left of ‖r_0‖ in the norm of M
    double cosine = 1, cosine_before = 1;
    double sine = 0, sine_before = 0;
    double v_norm = 0;  // ‖v_j‖, ‖v_{j−1}‖
    double v_norm_before = 0;
    double r = 0;  // ‖r‖
    double t_norm = 0;  // ‖(δ, γ_j, γ_{j+1})‖, the largest so far
    double turned = 1;  // ‖A·r‖/(‖A‖·‖r‖) before the last step, in the norm of M
  };

  Spare spare() override { return {z_.get(), q_.data()}; }
  void collective_begin(const comm_thread::TeamThread& thread, const Solve& solve,
                        const double* product) override;
  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) override;
  std::vector<double*> carried() override {
    return {x_.data(),    r_.data(),    z_->values(), v_[0].data(),
            v_[1].data(), w_[0].data(), w_[1].data()};
  }
  /// What is known of the x in `least_`.
  struct Kept {
    double r = 0;  // ‖r‖; 0 where there is none
    double turned = 0;  // see State
  };
  void collective_watch(const comm_thread::TeamThread& thread, const State& state, Kept& kept,
                        Solve& solve);
  void go_back(const comm_thread::TeamThread& thread, const Kept& kept, Solve& solve);
  State start_state();
  State collective_start(const comm_thread::TeamThread& thread, double bound);
  void collective_step(const comm_thread::TeamThread& thread, State& state, SolveReport& report);
  void collective_measure(const comm_thread::TeamThread& thread, const double* v, double v_bound,
                          double r_bound);
  static bool turn(State& state, double delta, double gamma, std::span<double, 3> column);
  void update(const comm_thread::TeamThread& thread, State& state, double gamma,
              std::span<const double, 3> column);
  const double* m(const double* v) const { return is_identity() ? v : m_.data(); }

  double norm_;  // upper bound of ‖A‖
  comm_thread::ReproducibleSum curvature_;  // z·A·z
  comm_thread::ReproducibleSum length_;  // v·z, v·v, r·v, r·r
  std::unique_ptr<spmv::Operand> z_;
  Array r_;
  Array q_;
  std::array<Array, 2> v_;
  std::array<Array, 2> w_;
  Array m_;  // M·v; empty with the identity
  Array least_;  // x where A·r was small; takes no memory before
};

}  // namespace weft::solver
