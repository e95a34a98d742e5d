#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "library/options/solve_settings.h"
#include "library/settings/method_choice.h"
#include "library/solve/iteration_watch.h"
#include "library/solve/solve_hooks.h"
#include "library/solve/system_context.h"
#include "solver/krylov/method.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/null_space.h"
#include "solver/precondition/preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/modes/linear_operator.h"

namespace weft::library {

/// A method and its preconditioner, set up for an operator as settings ask.
/// Functions are collective. Thread: the main thread, outside the team. Lifetime: what it is made
/// of, and operator and null space of the last set-up, outlive it or its last `forget`.
class WayInUse {
 public:
  WayInUse(const SystemContext& context, const SolveHooks& hooks, IterationWatch& watch)
      : context_(context), hooks_(hooks), watch_(watch) {}

  /// What a way is set up for.
  struct System {
    spmv::LinearOperator& op;
    solver::NullSpace* null_space;  // what is projected out; null: none is known
    /// In the place of the constant vector, in `amg`; empty: none. Shape: [element_count].
    std::vector<double> constant{};
  };

  void forget();
  void forget_method();  // which refers to the preconditioner, and to the null space
  /// Lets a trial choose again where `settings` leave the method open.
  void forget_choice() { choice_ = {nullptr, ""}; }

  /// Makes the preconditioner and the method. Throws comm_thread::InputError where one refuses the
  /// matrix.
  void collective_set_up(const System& system, const SolveSettings& settings,
                         const IterationWatch::Limits& limits);
  /// Makes the method for the preconditioner that there is.
  void collective_make_method(const System& system, const IterationWatch::Limits& limits);

  /// True if the preconditioner has adapted to other values of the matrix, of the same pattern.
  bool collective_take_new_values() {
    return preconditioner_ && preconditioner_->collective_take_new_values();
  }
  /// The method alone, which stays with the preconditioner where it can adapt, too.
  std::unique_ptr<solver::KrylovMethod> take_method() { return std::move(method_); }
  void keep_method(std::unique_ptr<solver::KrylovMethod> method) { method_ = std::move(method); }

  bool has_method() const { return method_ != nullptr; }
  solver::KrylovMethod& method() { return *method_; }
  const solver::KrylovMethod& method() const { return *method_; }
  const solver::KrylovMethod::Options& options() const { return options_; }
  const solver::KrylovEntry& entry() const { return *choice_.method; }
  const std::string& why() const { return choice_.why; }  // where a trial chose the method
  const SolveSettings& settings() const { return settings_; }
  solver::Preconditioner* preconditioner() const { return preconditioner_.get(); }  // null: none
  const solver::SchwarzPreconditioner* schwarz() const { return schwarz_; }  // null: another one
  double preconditioner_seconds() const { return preconditioner_seconds_; }
  /// What the preconditioner has found in the matrix, a sentence; empty: nothing.
  const std::string& found() const { return found_; }

 private:
  void collective_make_preconditioner(const System& system);
  void choose_options(const System& system, const IterationWatch::Limits& limits);

  const SystemContext& context_;
  const SolveHooks& hooks_;
  IterationWatch& watch_;
  SolveSettings settings_;
  std::unique_ptr<solver::Preconditioner> preconditioner_;
  const solver::SchwarzPreconditioner* schwarz_ = nullptr;
  double preconditioner_seconds_ = 0;
  std::string found_;
  std::unique_ptr<solver::DeflatedPreconditioner> deflated_;  // where the null space is known
  solver::KrylovMethod::Options options_;
  MethodChoice choice_{nullptr, ""};
  std::unique_ptr<solver::KrylovMethod> method_;
};

}  // namespace weft::library
