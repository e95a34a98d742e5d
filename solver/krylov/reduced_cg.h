#pragma once

#include <initializer_list>
#include <span>

#include "comm_thread/engine/reproducible_sum.h"
#include "solver/krylov/fitted_sums.h"
#include "solver/krylov/method.h"

namespace weft::solver {

/// The loop of all variants of conjugate gradients with one reduction an iteration.
///
/// Such variants compute p·A·p, or r itself, by recurrences that rounding spoils. Where the
/// denominator of α is not positive, the method begins again from the true residual b − A·x, and
/// the report says so. All steps are in terms of u = M·r; with the identity or a diagonal D⁻¹, u is
/// stored in place of r = D·u.
class ReducedCg : public KrylovMethod {
 protected:
  /// Collective. A reduction is of `sum_count` sums.
  ReducedCg(spmv::LinearOperator& op, Options options, int sum_count);

  /// Scalars that are known between two steps; every thread has the same.
  struct State {
    bool has_direction = false;  // false at the start and after beginning again
    double r_square = 0;  // ‖r‖², of the last step; at the start a bound of it
    double r_dot_u = 0;  // of the last step
    double alpha = 0;  // of the last step
    double p_norm = 0;  // upper bound of ‖p‖
    double fresh_square = 0;  // ‖r‖² when u was last made as M·r
    /// True if u, by its recurrence, is no longer near M·r where M rounds as single precision does.
    bool is_stale(double square) const { return square < 1e-6 * fresh_square; }
  };
  /// The next step: p = u + β·p, x += α·p and all that follows from it.
  struct Step {
    double r_square = 0;
    double r_dot_u = 0;
    double alpha = 0;
    double beta = 0;
    double denominator = 0;  // of α; not positive: unusable
  };

  void collective_iterate(const comm_thread::TeamThread& thread, std::span<const double> b,
                          double bound, double& first_norm, SolveReport& report) final;

  /// `collective_carry` with the vectors of the derived class; restores what follows from them.
  virtual void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction,
                                    double& first_norm, SolveReport& report,
                                    std::initializer_list<double*> scalars) = 0;
  /// Products of u and the reduction; the next step follows from them.
  virtual Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) = 0;
  virtual void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                                  const Step& step) = 0;

  /// β and α from γ = r·u and δ = u·A·u. Source: Chronopoulos and Gear 1989.
  static Step step_from(const State& state, double r_square, double gamma, double delta);

  double norm_;  // upper bound of ‖A‖
  comm_thread::ReproducibleSum sums_;
  FittedSums fitted_;  // the same, number by number
};

}  // namespace weft::solver
