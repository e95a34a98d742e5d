#pragma once

#include <memory>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/levels/level_report.h"
#include "solver/precondition/preconditioner.h"
#include "solver/precondition/solve_unit.h"

namespace weft::solver {

/// A cycle on levels whose values are float or double, of vectors r and z of an operator. Every
/// thread of the team makes all calls that get one, after a barrier.
class LevelCycle : public Levels {
 public:
  /// What the largest entry of a right-hand side becomes, up to a factor of 4.
  virtual double scale() const = 0;
  /// The largest magnitude among the entries of this thread, as the finest level takes them.
  virtual double largest(const comm_thread::TeamThread& thread, const double* r) const = 0;
  /// Begins a cycle with the right-hand side unit·r. Collective.
  virtual void collective_begin(const comm_thread::TeamThread& thread, const double* r,
                                double unit) = 0;
  /// Ends it with z = x / unit and a barrier. Collective.
  virtual void collective_end(const comm_thread::TeamThread& thread, double* z, double unit) = 0;

  /// As of Preconditioner.
  virtual bool collective_take_new_values() { return false; }
  virtual double norm() const = 0;
};

/// One cycle on levels as a preconditioner: symmetric if A is. Right-hand sides are multiplied by
/// powers of two that keep single precision in range, see SolveUnit.
class LevelsPreconditioner : public Preconditioner, public Levels {
 public:
  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) final {
    apply_to(thread, 0, r, z);
  }
  void apply_to(const comm_thread::TeamThread& thread, int vector, const double* r,
                double* z) final;
  /// For a method that makes a cycle part of its own passes, by what the cycle's class offers.
  LevelCycle& cycle() { return *cycle_; }
  SolveUnit& unit() { return unit_; }
  void begin_solve() final { unit_.begin_solve(); }
  bool collective_take_new_values() final { return cycle_->collective_take_new_values(); }
  double norm() const final { return cycle_->norm(); }
  bool is_symmetric() const final { return true; }
  bool has_levels() const final { return true; }
  LevelsReport report() final { return cycle_->report(); }
  void forget_times() final { cycle_->forget_times(); }

 protected:
  LevelsPreconditioner(const comm_thread::Crew& crew, std::unique_ptr<LevelCycle> cycle);

 private:
  std::unique_ptr<LevelCycle> cycle_;
  SolveUnit unit_;
};

}  // namespace weft::solver
