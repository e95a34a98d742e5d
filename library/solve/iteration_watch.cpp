#include "library/solve/iteration_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace weft::library {
namespace {

using solver::SolveReport;
using solver::SolveStatus;

/// Iterations from which a residual tells how many more it takes, and the share of those that were
/// forecast from which a method is given up. Varying coefficients take multigrid up to two and a
/// half times as many as a digit each.
constexpr std::int64_t least_that_tell = 8;
constexpr double most_of_forecast = 4;

/// True if so far the residual promises far more iterations than were forecast.
bool is_behind(double forecast, double tolerance, std::int64_t iteration, double residual) {
  const double forecast_or_least = std::max(forecast, static_cast<double>(least_that_tell));
  const auto so_far = static_cast<double>(iteration);
  const double expected = residual < 1 ? so_far * std::log(tolerance) / std::log(residual)
                                       : std::numeric_limits<double>::infinity();
  return so_far >= forecast_or_least && expected > most_of_forecast * forecast_or_least;
}

}  // namespace

IterationWatch::IterationWatch(const comm_thread::Communicator& ranks, const SolveHooks& hooks,
                               double max_seconds)
    : hooks_(hooks) {
  if (max_seconds > 0) limit_.emplace(ranks, max_seconds);
}

void IterationWatch::watch(solver::KrylovMethod::Options& options, const Limits& limits) {
  options.patience = limits.patience;
  options.on_iteration = [this](std::int64_t iteration, double residual) {
    note(iteration, residual);
  };
  options.stops = nullptr;
  if (hooks_.stops || limit_ || limits.forecast > 0)
    options.stops = [this, limits, stop = options.stop](std::int64_t iteration, double residual) {
      return collective_stops(limits, stop, iteration, residual);
    };
}

void IterationWatch::start_time() {
  if (limit_) limit_->start();
}

void IterationWatch::begin_run(std::int64_t iterations, double residual) {
  iterations_before_ = iterations;
  residual_share_ = residual;
  if (iterations > 0) return;
  is_asked_to_stop_ = false;
  is_behind_ = false;
}

void IterationWatch::note(std::int64_t iteration, double residual) const {
  iteration += iterations_before_;
  residual *= residual_share_;
  if (on_vector_iteration_)
    on_vector_iteration_(first_vector_, iteration, residual);
  else if (hooks_.on_iteration)
    hooks_.on_iteration(iteration, residual);
}

void IterationWatch::note_vector(std::size_t vector, std::int64_t iteration,
                                 double residual) const {
  if (on_vector_iteration_) on_vector_iteration_(first_vector_ + vector, iteration, residual);
}

bool IterationWatch::collective_stops(const Limits& limits, const solver::StopCriterion& stop,
                                      std::int64_t iteration, double residual) {
  iteration += iterations_before_;
  residual *= residual_share_;
  if (hooks_.stops && hooks_.stops(iteration, residual)) is_asked_to_stop_ = true;
  if (limit_ && limit_->collective_is_over()) is_asked_to_stop_ = true;
  if (is_asked_to_stop_) return true;
  if (limits.forecast > 0 && is_behind(limits.forecast, stop.tolerance, iteration, residual))
    is_behind_ = true;
  return is_behind_;
}

void IterationWatch::judge_run(SolveReport& report) const {
  if (report.status != SolveStatus::stopped || is_asked_to_stop_ || !is_behind_) return;
  report.status = SolveStatus::breakdown;
  report.explanation = "far more iterations are needed than were forecast, of a digit each";
}

void IterationWatch::judge_time(SolveReport& report) const {
  if (!limit_ || !limit_->was_over() || report.status != SolveStatus::stopped) return;
  report.status = SolveStatus::out_of_time;
  report.explanation = fmt::format("max-seconds: {:g} s are over", limit_->limit_seconds());
}

}  // namespace weft::library
