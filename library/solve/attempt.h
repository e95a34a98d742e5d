#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "library/options/solve_settings.h"
#include "library/settings/method_choice.h"
#include "library/solve/block_solver.h"
#include "library/solve/solvable_system.h"
#include "library/solve/solve_context.h"
#include "library/solve/solve_limits.h"
#include "library/solve/vectors_in_range.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/null_space.h"
#include "solver/precondition/preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "solver/report/solve_report.h"

namespace weft::library {

/// One method with its preconditioner, set up for a system as settings ask, and its solves.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: what it is made
/// of outlives it, and the system stays as it is until `let_go`.
class Attempt {
 public:
  Attempt(SolvableSystem& system, const SystemContext& context, const SolveHooks& hooks,
          SolveLimits& limits)
      : system_(system), context_(context), hooks_(hooks), limits_(limits), blocks_(limits) {}

  /// Makes the preconditioner and the method. Throws comm_thread::InputError where one refuses the
  /// matrix.
  void collective_set_up(const SolveSettings& settings, const SolveLimits::OfMethod& limits);

  /// Lets go of a system that is about to change. `keeps_pattern`: only values of the given matrix
  /// change, and what may adapt to them stays.
  void let_go(bool keeps_pattern);
  /// Sets the same up again, for the system as it is now, by what has stayed where that adapts.
  /// Throws as `collective_set_up`.
  void collective_set_up_again(const SolveSettings& settings, const SolveLimits::OfMethod& limits);
  bool is_set_up() const { return method_ != nullptr; }

  /// Solves for one right-hand side.
  solver::SolveReport collective_solve(const VectorsInRange& vectors);
  std::span<const double> solution() const {
    return system_.rows().is_scaled() ? system_.rows().scaled().solution() : method_->solution();
  }

  /// True if several right-hand sides are solved for at once in less time.
  bool collective_may_solve_block() const;
  /// Solves for `vectors`, 8, 4 or 2.
  std::vector<solver::SolveReport> collective_solve_block(
      const std::deque<VectorsInRange>& vectors);
  /// The last solution number `vector` of those of `width` at once.
  std::span<const double> solution(std::size_t width, std::size_t vector) const {
    return blocks_.solution(width, vector);
  }

  /// z = M·r; z = r without a preconditioner. Shape: [element_count].
  void collective_precondition(std::span<const double> r, std::span<double> z);

  const SolveSettings& settings() const { return settings_; }
  const solver::KrylovEntry& entry() const { return *choice_.method; }
  const std::string& why() const { return choice_.why; }  // where a trial chose the method
  solver::KrylovMethod& method() { return *method_; }
  const solver::KrylovMethod::Options& options() const { return options_; }
  solver::Preconditioner* preconditioner() const { return preconditioner_.get(); }  // null: none
  const solver::SchwarzPreconditioner* schwarz() const { return schwarz_; }  // null: another one
  /// What the preconditioner has found in the matrix, a sentence; empty: nothing.
  const std::string& found() const { return found_; }
  double preconditioner_seconds() const { return preconditioner_seconds_; }
  /// How many preconditioners have been made, where new values do not count that one has taken.
  std::int64_t made_count() const { return made_count_; }

 private:
  void forget_method();
  void collective_make_preconditioner();
  void collective_make_method(const SolveLimits::OfMethod& limits);
  void choose_options(const SolveLimits::OfMethod& limits);

  SolvableSystem& system_;
  const SystemContext& context_;
  const SolveHooks& hooks_;
  SolveLimits& limits_;
  SolveSettings settings_;
  std::unique_ptr<solver::Preconditioner> preconditioner_;
  const solver::SchwarzPreconditioner* schwarz_ = nullptr;
  std::string found_;
  double preconditioner_seconds_ = 0;
  std::int64_t made_count_ = 0;
  std::unique_ptr<solver::DeflatedPreconditioner> deflated_;  // where the null space is known
  solver::KrylovMethod::Options options_;
  MethodChoice choice_{nullptr, ""};
  std::unique_ptr<solver::KrylovMethod> method_;
  std::unique_ptr<solver::KrylovMethod> kept_method_;  // between `let_go` and the next set-up
  BlockSolver blocks_;
  perfmodel::HugePageBuffer<double> residual_;  // of `collective_precondition`
  perfmodel::HugePageBuffer<double> correction_;
};

}  // namespace weft::library
