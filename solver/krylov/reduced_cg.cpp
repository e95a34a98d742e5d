#include "solver/krylov/reduced_cg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace weft::solver {

using comm_thread::TeamThread;

namespace {

/// How far above the tolerance the true residual may be.
constexpr double allowed_drift = 2;

}  // namespace

ReducedCg::Step ReducedCg::step_from(const State& state, double r_square, double gamma,
                                     double delta) {
  Step step{.r_square = r_square, .r_dot_u = gamma};
  step.beta = state.has_direction ? gamma / state.r_dot_u : 0;
  step.denominator = state.has_direction ? delta - step.beta * gamma / state.alpha : delta;
  step.alpha = gamma / step.denominator;
  return step;
}

/// Every thread computes the same.
SolveReport ReducedCg::solve_in_team(const TeamThread& thread, std::span<const double> b) {
  const double bound = collective_bound_square(thread, b);
  State state{.r_square = bound};
  start(thread, b);
  timer_.start(thread.index);
  SolveReport report;
  double first_norm = -1;  // not known yet
  double norm_at_restart = std::numeric_limits<double>::infinity();
  while (true) {
    const Step step = collective_next_step(thread, state);
    const double norm = std::sqrt(step.r_square);
    if (first_norm < 0) {
      first_norm = norm;
      report = start_report(step.r_square, bound);
      if (report.status != SolveStatus::not_converged) return report;
    }
    const bool is_unusable = !(step.denominator > 0);
    note(thread, norm, first_norm, report);
    bool begins_again = is_unusable && report.status == SolveStatus::not_converged;
    if (report.status == SolveStatus::converged) {
      const double true_norm = std::sqrt(collective_true_square(thread, b, step.r_square));
      begins_again = state.has_direction &&
                     true_norm > allowed_drift * options().stop.tolerance * first_norm &&
                     true_norm < norm_at_restart / 2;
      if (!begins_again) return report;
      norm_at_restart = true_norm;
      report.status = SolveStatus::not_converged;
    }
    if (report.iterations >= options().stop.max_iterations) return report;
    if (begins_again) {
      if (!state.has_direction) {
        report.status = SolveStatus::breakdown;
        report.explanation = fmt::format(
            "r·A·r = {:.3g} is not positive: the matrix is not positive definite, or nothing but "
            "rounding is left to iterate on",
            step.denominator);
        return report;
      }
      ++report.restarts;
      collective_begin_again(thread, b);
      state = {.r_square = std::max(step.r_square, std::isfinite(norm_at_restart)
                                                       ? norm_at_restart * norm_at_restart
                                                       : bound)};
      continue;
    }
    state.p_norm = norm + std::abs(step.beta) * state.p_norm;
    collective_advance(thread, state, step);
    state.has_direction = true;
    state.r_square = step.r_square;
    state.r_dot_u = step.r_dot_u;
    state.alpha = step.alpha;
    ++report.iterations;
  }
}

}  // namespace weft::solver
