#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "solver/krylov/fitted_sums.h"
#include "solver/krylov/method.h"
#include "solver/precondition/preconditioner.h"

namespace weft::solver {

/// The loop of textbook conjugate gradients, common to ConjugateGradient and TwoPassCg, for one or
/// several right-hand sides.
///
/// Step k ends with α and β. Their use, x += α·p and p = z + β·p, waits until step k+1 needs the
/// new direction, so that one pass reads p for both, and a derived class may do more in that pass.
/// A column that has converged waits for the others.
/// Source: Hestenes and Stiefel 1952; Hoefler et al. 2006, listing 1.1.
class TextbookCg : public KrylovMethod {
 public:
  TextbookCg(spmv::LinearOperator& op, Options options, int width = 1)
      : KrylovMethod(op, std::move(options), width),
        fitted_(static_cast<std::size_t>(width), FittedSums(op, extra_sum())) {}

 protected:
  /// Norms of the residual and the direction.
  struct Norms {
    double r = 0;  // ‖r‖
    double r_dot_z = 0;  // z = M·r
    double p = 0;  // upper bound of ‖p‖
    double z_dot_q = 0;  // q = A·p of the step that led here; of FlexibleCg
  };
  /// The recurrence of one right-hand side; every thread has the same.
  struct Column {
    int number = 0;
    Solve* solve = nullptr;
    bool is_running = false;
    bool is_started = false;  // false where the first norms are still to be found
    Norms norms{};
    Norms next{};  // after the step
    double curvature = 0;  // p·A·p
    double alpha = 0;  // of the step, before they are used
    double beta = 0;
    double norm_before = 0;  // ‖r‖ before the step before; 0 at the first
    double looked_for = 0;  // norm that ends the iteration, if the next step may reach it, else 0

    /// Upper bound of r·r before the step.
    double square() const { return is_started ? norms.r * norms.r : solve->bound; }
  };
  using Columns = std::span<Column>;

  void collective_iterate(const comm_thread::TeamThread& thread, Solves solves) final;

  // Sums of all columns that are running; those of every thread:

  /// `next` of the first residual, and of r -= α·A·p. Where ‖r‖ is below `looked_for`, r·z may be
  /// missing.
  virtual void collective_start(const comm_thread::TeamThread& thread, Columns columns) = 0;
  virtual void collective_update_residual(const comm_thread::TeamThread& thread,
                                          Columns columns) = 0;
  /// x += α·p, p = z + β·p and then `curvature`; `norms.p` is of the new p.
  virtual void collective_advance(const comm_thread::TeamThread& thread, Columns columns) = 0;
  /// x += α·p of one column. Ends such that each thread may read its segments of x.
  virtual void finish(const comm_thread::TeamThread& thread, const Column& column) = 0;
  /// β of the step that led from `norms` to `next`.
  virtual double beta(const Column& column) const {
    return column.next.r_dot_z / column.norms.r_dot_z;
  }

  FittedSums& fitted(const Column& column) {
    return fitted_[static_cast<std::size_t>(column.number)];
  }

  /// Calls work(column) for those that are running.
  template <class Work>
  static void for_each_running(Columns columns, const Work& work) {
    for (Column& column : columns)
      if (column.is_running) work(column);
  }

  /// The sums of all derived classes; z·q is FlexibleCg's.
  enum : int { sum_rr, sum_rz, sum_zq, sum_pq, sum_count };

 private:
  static bool is_any_running(Columns columns) {
    return std::ranges::any_of(columns, &Column::is_running);
  }
  void collective_carry_one(const comm_thread::TeamThread& thread, Carry direction, Column& column);
  void collective_step(const comm_thread::TeamThread& thread, Columns columns);

  std::vector<FittedSums> fitted_;  // [width]
};

}  // namespace weft::solver
