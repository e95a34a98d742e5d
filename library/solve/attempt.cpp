#include "library/solve/attempt.h"

#include <algorithm>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "comm_thread/placement/compute_team.h"
#include "library/settings/preconditioner_choice.h"
#include "library/solve/value_range.h"
#include "perfmodel/huge_page_buffer.h"
#include "perfmodel/stopwatch.h"
#include "solver/methods/deflated_solve.h"
#include "spmv/modes/mode.h"

namespace weft::library {

using comm_thread::InputError;
using comm_thread::TeamThread;
using solver::SolveReport;

/// What refers to the preconditioner, and to the null space.
void Attempt::forget_method() {
  kept_method_.reset();
  method_.reset();
  deflated_.reset();
  blocks_.forget();
}

void Attempt::let_go(bool keeps_pattern) {
  auto kept = keeps_pattern && !deflated_ ? std::move(method_) : nullptr;
  forget_method();
  kept_method_ = std::move(kept);
  if (keeps_pattern) return;
  preconditioner_.reset();
  schwarz_ = nullptr;
  found_.clear();
}

void Attempt::collective_set_up(const SolveSettings& settings,
                                const SolveLimits::OfMethod& limits) {
  let_go(false);
  choice_ = {nullptr, ""};
  collective_set_up_again(settings, limits);
}

void Attempt::collective_set_up_again(const SolveSettings& settings,
                                      const SolveLimits::OfMethod& limits) {
  if (!preconditioner_ || !preconditioner_->collective_take_new_values()) {
    let_go(false);
    settings_ = settings;
    if (hooks_.on_set_up) hooks_.on_set_up(settings_);
    collective_make_preconditioner();
  } else if (kept_method_ && !system_.null_space() && kept_method_->collective_take_new_values()) {
    method_ = std::move(kept_method_);
    return;
  }
  collective_make_method(limits);
}

void Attempt::collective_make_preconditioner() {
  const perfmodel::Stopwatch watch;
  ++made_count_;
  try {
    if (context_.collective_make_preconditioner) {
      preconditioner_ = context_.collective_make_preconditioner();
    } else {
      auto made = library::collective_make_preconditioner(system_.op_of_methods(), settings_,
                                                          context_.problem, hooks_.on_forecast,
                                                          system_.constant());
      preconditioner_ = std::move(made.object);
      schwarz_ = made.schwarz;
      found_ = std::move(made.found);
    }
  } catch (const InputError& error) {
    if (context_.name.empty()) throw;
    throw InputError(context_.name + ": " + error.what());
  }
  preconditioner_seconds_ = watch.seconds();
}

void Attempt::collective_make_method(const SolveLimits::OfMethod& limits) {
  forget_method();
  if (system_.null_space())
    deflated_ = std::make_unique<solver::DeflatedPreconditioner>(*system_.null_space(),
                                                                 preconditioner_.get());
  choose_options(limits);
  spmv::LinearOperator& op = system_.op_of_methods();
  if (!choice_.method && settings_.method == "auto") {
    // How many iterations varying coefficients cost without multigrid, nobody knows beforehand.
    const bool may_drop = settings_.may_choose_multigrid() && context_.problem.has_stencil();
    choice_ = collective_choose_method(op, options_, may_drop);
    if (choice_.drops_preconditioner) {
      preconditioner_.reset();
      options_.preconditioner = nullptr;
    }
  } else if (!choice_.method) {
    choice_.method = solver::find_krylov_method(settings_.method);
  }
  method_ = choice_.method->collective_make(op, options_);
}

void Attempt::choose_options(const SolveLimits::OfMethod& limits) {
  options_ = {.mode = *spmv::parse_mode(settings_.mode),
              .preconditioner = deflated_ ? deflated_.get() : preconditioner_.get(),
              .stop = settings_.stop,
              .multigrid = settings_.parsed_multigrid(),
              .on_iteration = {},
              .checkpoints = hooks_.checkpoints};
  if (settings_.restart > 0) options_.restart = settings_.restart;
  limits_.watch(options_, limits);
}

SolveReport Attempt::collective_solve(const VectorsInRange& vectors) {
  if (hooks_.on_start) hooks_.on_start();
  method_->set_stop(vectors.stop());
  if (system_.rows().is_scaled())
    return system_.rows().scaled().collective_solve(*method_, limits_, vectors.stop(), vectors.b(),
                                                    vectors.guess());
  limits_.begin_run();
  SolveReport report = system_.null_space()
                           ? solver::collective_solve_deflated(
                                 *method_, *system_.null_space(), system_.is_symmetric(),
                                 vectors.stop(), vectors.b(), vectors.guess())
                           : method_->solve(vectors.b(), vectors.guess());
  limits_.judge(report);
  return report;
}

bool Attempt::collective_may_solve_block() const {
  return is_set_up() && entry().has_blocks && !system_.rows().is_scaled() &&
         !system_.null_space() && !limits_.has_time_limit() &&
         BlockSolver::collective_pays(system_.op());
}

std::vector<SolveReport> Attempt::collective_solve_block(
    const std::deque<VectorsInRange>& vectors) {
  if (hooks_.on_start) hooks_.on_start();
  return blocks_.collective_solve(*system_.matrix(), options_, vectors);
}

void Attempt::collective_precondition(std::span<const double> r, std::span<double> z) {
  if (!preconditioner_) {
    std::ranges::copy(r, z.begin());
    return;
  }
  if (residual_.size() != r.size()) {
    residual_ = perfmodel::HugePageBuffer<double>(r.size());
    correction_ = perfmodel::HugePageBuffer<double>(r.size());
  }
  const bool is_scaled = system_.rows().is_scaled();
  if (is_scaled)
    system_.rows().scaled().scale_residual(r, residual_.span());
  else
    std::ranges::copy(r, residual_.data());
  preconditioner_->begin_solve();  // r has a magnitude of its own
  system_.op().team().run([&](const TeamThread& thread) {
    preconditioner_->apply(thread, residual_.data(), correction_.data());
  });
  if (is_scaled)
    system_.rows().scaled().scale_solution(correction_.span(), z);
  else
    std::ranges::copy(correction_.span(), z.begin());
  library::scale(system_.op(), system_.exponent(), z, z);
}

}  // namespace weft::library
