#pragma once

#include <span>

#include "solver/krylov/method.h"

namespace weft::solver {

/// Conjugate gradients as in the textbook: what its forms have in common, the loop.
///
/// Step k ends with α and β. What they are for, x += α·p and p = z + β·p, waits until step k+1
/// needs the new direction, so that one pass reads p for both, and a form may do more in that pass.
/// z = M·r, M = 1 without a preconditioner, which flexible forms allow to be neither symmetric nor
/// the same in every step: β = z·(r − r_before)/(z·r)_before = −α·z·A·p/(z·r)_before. Source:
/// Hestenes and Stiefel 1952; Hoefler et al. 2006, listing 1.1; Notay 2000, "Flexible conjugate
/// gradients", FCG(1).
class TextbookCg : public KrylovMethod {
 public:
  using KrylovMethod::KrylovMethod;

  SolveReport solve_in_team(const comm_thread::TeamThread& thread,
                            std::span<const double> b) override;

 protected:
  /// Of the residual, and what is known of the direction; every thread has the same.
  struct Norms {
    double r = 0;  // ‖r‖
    double r_dot_z = 0;
    double p = 0;  // ‖p‖ at most
    double z_dot_q = 0;  // q = A·p of the step that led here; of flexible forms
  };
  /// What the last step left to do.
  struct Step {
    double alpha = 0;
    double beta = 0;
  };

  /// x = 0, p = 0, r = b. `bound`: of b·b.
  virtual Norms collective_start(const comm_thread::TeamThread& thread, std::span<const double> b,
                                 double bound) = 0;
  /// x += α·p, p = z + β·p and then p·A·p; `norms.p` is of the new p.
  virtual double collective_advance(const comm_thread::TeamThread& thread, const Step& last,
                                    const Norms& norms) = 0;
  /// r -= α·A·p.
  virtual Norms collective_update_residual(const comm_thread::TeamThread& thread, double alpha,
                                           const Norms& norms) = 0;
  /// x += α·p. Ends such that each thread may read its segments of x.
  virtual void finish(const comm_thread::TeamThread& thread, double alpha) = 0;
  /// ‖M‖ at most.
  virtual double inverse_norm() const { return 1; }
  virtual bool is_flexible() const { return false; }
};

}  // namespace weft::solver
