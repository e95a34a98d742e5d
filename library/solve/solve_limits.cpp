#include "library/solve/solve_limits.h"

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

constexpr double seconds_between_agreements = 0.02;

/// True if so far the residual promises far more iterations than were forecast.
bool is_behind(double forecast, double tolerance, std::int64_t iteration, double residual) {
  const double forecast_or_least = std::max(forecast, static_cast<double>(least_that_tell));
  const auto so_far = static_cast<double>(iteration);
  const double expected = residual < 1 ? so_far * std::log(tolerance) / std::log(residual)
                                       : std::numeric_limits<double>::infinity();
  return so_far >= forecast_or_least && expected > most_of_forecast * forecast_or_least;
}

}  // namespace

SolveLimits::SolveLimits(const comm_thread::Communicator& ranks, const SolveHooks& hooks,
                         double max_seconds)
    : hooks_(hooks), max_seconds_(max_seconds) {
  if (max_seconds > 0) ranks_ = ranks.collective_duplicate();
}

void SolveLimits::watch(solver::KrylovMethod::Options& options, const OfMethod& limits) {
  options.patience = limits.patience;
  options.on_iteration = [this](std::int64_t iteration, double residual) {
    note(iteration, residual);
  };
  options.stops = nullptr;
  if (hooks_.stops || has_time_limit() || limits.forecast > 0)
    options.stops = [this, limits, stop = options.stop](std::int64_t iteration, double residual) {
      return collective_stops(limits, stop, iteration, residual);
    };
}

void SolveLimits::start_solve() {
  since_start_ = {};
  timed_iterations_ = 0;
  next_agreement_ = 1;
  is_over_ = false;
}

void SolveLimits::begin_vectors(std::size_t vector, const OnVectorIteration* on_iteration) {
  first_vector_ = vector;
  on_vector_iteration_ = on_iteration && *on_iteration ? on_iteration : nullptr;
}

void SolveLimits::begin_run(std::int64_t iterations, double residual) {
  iterations_before_ = iterations;
  residual_share_ = residual;
  if (iterations > 0) return;
  is_asked_to_stop_ = false;
  is_behind_ = false;
}

void SolveLimits::note(std::int64_t iteration, double residual) const {
  iteration += iterations_before_;
  residual *= residual_share_;
  if (on_vector_iteration_)
    (*on_vector_iteration_)(first_vector_, iteration, residual);
  else if (hooks_.on_iteration)
    hooks_.on_iteration(iteration, residual);
}

void SolveLimits::note_vector(std::size_t vector, std::int64_t iteration, double residual) const {
  if (on_vector_iteration_) (*on_vector_iteration_)(first_vector_ + vector, iteration, residual);
}

bool SolveLimits::collective_stops(const OfMethod& limits, const solver::StopCriterion& stop,
                                   std::int64_t iteration, double residual) {
  iteration += iterations_before_;
  residual *= residual_share_;
  if (hooks_.stops && hooks_.stops(iteration, residual)) is_asked_to_stop_ = true;
  if (has_time_limit() && collective_is_over()) is_asked_to_stop_ = true;
  if (is_asked_to_stop_) return true;
  if (limits.forecast > 0 && is_behind(limits.forecast, stop.tolerance, iteration, residual))
    is_behind_ = true;
  return is_behind_;
}

bool SolveLimits::collective_is_over() {
  if (++timed_iterations_ < next_agreement_) return is_over_;
  const double seconds = ranks_->max(since_start_.seconds());
  is_over_ = seconds >= max_seconds_;
  const auto so_far = static_cast<double>(timed_iterations_);
  const double each = seconds / so_far;
  const double until = std::clamp(max_seconds_ - seconds, 0.0, seconds_between_agreements);
  const double steps = each > 0 ? std::min(until / each, so_far) : so_far;
  next_agreement_ = timed_iterations_ + std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
  return is_over_;
}

void SolveLimits::judge(SolveReport& report) const {
  if (report.status != SolveStatus::stopped) return;
  if (is_over_) {
    report.status = SolveStatus::out_of_time;
    report.explanation = fmt::format("max-seconds: {:g} s are over", max_seconds_);
  } else if (is_behind_ && !is_asked_to_stop_) {
    report.status = SolveStatus::breakdown;
    report.explanation = "far more iterations are needed than were forecast, of a digit each";
  }
}

}  // namespace weft::library
