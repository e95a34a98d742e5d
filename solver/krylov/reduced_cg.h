#pragma once

#include <span>

#include "solver/krylov/method.h"

namespace weft::solver {

/// What variants of conjugate gradients with one reduction an iteration have in common: the loop,
/// and what happens when a recurrence goes astray.
///
/// Such variants compute p·A·p, or r itself, by recurrences that rounding spoils. Where the
/// denominator of α is not positive, or where the true residual at the end is more than twice the
/// tolerance, the method begins again from the true residual b − A·x, and the report says so.
/// All steps are in terms of u = D⁻¹·r, D = 1 without a preconditioner.
class ReducedCg : public KrylovMethod {
 public:
  using KrylovMethod::KrylovMethod;

  SolveReport solve_in_team(const comm_thread::TeamThread& thread,
                            std::span<const double> b) override;

 protected:
  /// What is known between two steps; every thread has the same.
  struct State {
    bool has_direction = false;  // false at the start and after beginning again
    double r_square = 0;  // ‖r‖², of the last step; at the start a bound of it
    double r_dot_u = 0;  // of the last step
    double alpha = 0;  // of the last step
    double p_norm = 0;  // ‖p‖ at most
  };
  /// The next step: p = u + β·p, x += α·p and all that follows from it.
  struct Step {
    double r_square = 0;
    double r_dot_u = 0;
    double alpha = 0;
    double beta = 0;
    double denominator = 0;  // of α; not positive: unusable
  };

  /// x = 0, u = D⁻¹·b, no direction. Ends with a barrier.
  virtual void start(const comm_thread::TeamThread& thread, std::span<const double> b) = 0;
  /// u = D⁻¹·(b − A·x), no direction. Ends with a barrier.
  virtual void collective_begin_again(const comm_thread::TeamThread& thread,
                                      std::span<const double> b) = 0;
  /// What u demands: products, sums.
  virtual Step collective_next_step(const comm_thread::TeamThread& thread, const State& state) = 0;
  virtual void collective_advance(const comm_thread::TeamThread& thread, const State& state,
                                  const Step& step) = 0;

  /// β and α from γ = r·u and δ = u·A·u. Source: Chronopoulos and Gear 1989.
  static Step step_from(const State& state, double r_square, double gamma, double delta);
};

}  // namespace weft::solver
