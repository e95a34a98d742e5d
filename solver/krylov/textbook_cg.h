#pragma once

#include <initializer_list>
#include <span>
#include <utility>

#include "solver/krylov/fitted_sums.h"
#include "solver/krylov/method.h"

namespace weft::solver {

/// The loop of textbook conjugate gradients, common to ConjugateGradient and TwoPassCg.
///
/// Step k ends with α and β. Their use, x += α·p and p = z + β·p, waits until step k+1 needs the
/// new direction, so that one pass reads p for both, and a derived class may do more in that pass.
/// Source: Hestenes and Stiefel 1952; Hoefler et al. 2006, listing 1.1.
class TextbookCg : public KrylovMethod {
 public:
  TextbookCg(spmv::LinearOperator& op, Options options)
      : KrylovMethod(op, std::move(options)), fitted_(op, extra_sum()) {}

 protected:
  /// Norms of the residual and the direction; every thread has the same.
  struct Norms {
    double r = 0;  // ‖r‖
    double r_dot_z = 0;  // z = M·r
    double p = 0;  // upper bound of ‖p‖
    double z_dot_q = 0;  // q = A·p of the step that led here; of FlexibleCg
    double looked_for = 0;  // norm that ends the iteration, if the next step may reach it, else 0
  };
  /// α and β of a step, before they are used.
  struct Step {
    double alpha = 0;
    double beta = 0;
  };

  void collective_iterate(const comm_thread::TeamThread& thread, std::span<const double> b,
                          double bound, double& first_norm, SolveReport& report) final;

  /// `collective_carry` with the vectors of the derived class.
  virtual void collective_carry_all(const comm_thread::TeamThread& thread, Carry direction,
                                    double& first_norm, SolveReport& report,
                                    std::initializer_list<double*> scalars) = 0;
  /// The norms of the first residual. `bound`: of r·r.
  virtual Norms collective_start(const comm_thread::TeamThread& thread, double bound) = 0;
  /// x += α·p, p = z + β·p and then p·A·p; `norms.p` is of the new p.
  virtual double collective_advance(const comm_thread::TeamThread& thread, const Step& last,
                                    const Norms& norms) = 0;
  /// r -= α·A·p. Where ‖r‖ is below `norms.looked_for`, r·z may be missing.
  virtual Norms collective_update_residual(const comm_thread::TeamThread& thread, double alpha,
                                           const Norms& norms) = 0;
  /// x += α·p. Ends such that each thread may read its segments of x.
  virtual void finish(const comm_thread::TeamThread& thread, double alpha) = 0;
  /// β of the step with `alpha` that led from the residual of `last` to that of `next`.
  virtual double beta(double alpha, const Norms& last, const Norms& next) const {
    static_cast<void>(alpha);
    return next.r_dot_z / last.r_dot_z;
  }

  /// The sums of all derived classes; z·q is FlexibleCg's.
  enum : int { sum_rr, sum_rz, sum_zq, sum_pq };
  FittedSums fitted_;
};

}  // namespace weft::solver
