#include "solver/krylov/reduced_cg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "solver/report/stop_rule.h"

namespace weft::solver {

using comm_thread::TeamThread;

namespace {

/// Restarts in succession that may leave the residual as it is: it does not fall steadily in
/// conjugate gradients.
constexpr int most_vain_restarts = 10;

}  // namespace

ReducedCg::ReducedCg(spmv::LinearOperator& op, Options options, int sum_count)
    : KrylovMethod(op, std::move(options)),
      norm_(op.collective_norm()),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), sum_count),
      fitted_(op, extra_sum()) {}

ReducedCg::Step ReducedCg::step_from(const State& state, double r_square, double gamma,
                                     double delta) {
  Step step{.r_square = r_square, .r_dot_u = gamma};
  step.beta = state.has_direction ? gamma / state.r_dot_u : 0;
  step.denominator = state.has_direction ? delta - step.beta * gamma / state.alpha : delta;
  step.alpha = gamma / step.denominator;
  return step;
}

void ReducedCg::collective_iterate(const TeamThread& thread, std::span<const double> b,
                                   double bound, double& first_norm, SolveReport& report) {
  State state{.r_square = bound};
  Step step;
  double has_direction = 0;
  const auto carry = [&](Carry direction) {
    collective_carry_all(thread, direction, first_norm, report,
                         {&bound,
                          &has_direction,
                          &state.r_square,
                          &state.r_dot_u,
                          &state.alpha,
                          &state.p_norm,
                          &state.fresh_square,
                          &step.r_square,
                          &step.r_dot_u,
                          &step.alpha,
                          &step.beta,
                          &step.denominator,
                          &fitted_.bound(thread, 1).excess(),
                          &fitted_.bound(thread, 1).cancelled(),
                          &fitted_.bound(thread, 2).excess(),
                          &fitted_.bound(thread, 2).cancelled(),
                          &fitted_.bound(thread, 3).excess(),
                          &fitted_.bound(thread, 3).cancelled(),
                          &fitted_.bound(thread, 4).excess(),
                          &fitted_.bound(thread, 4).cancelled()});
  };
  fitted_.reset(thread);
  double restart_norm = std::numeric_limits<double>::infinity();  // least ‖b − A·x‖ at a restart
  int vain_restarts = 0;  // in succession
  bool is_restarted = false;
  bool is_step_known = is_continued();
  if (is_step_known) {
    carry(Carry::restore);
    state.has_direction = has_direction != 0;
  }
  while (true) {
    if (!is_step_known) step = collective_next_step(thread, state);
    const double norm = std::sqrt(step.r_square);
    if (std::exchange(is_restarted, false)) {
      vain_restarts = norm < StopRule::least_gain * restart_norm ? 0 : vain_restarts + 1;
      restart_norm = std::min(restart_norm, norm);
    }
    if (first_norm < 0) {
      first_norm = norm;
      report = start_report(step.r_square, bound);
      if (report.status != SolveStatus::not_converged) return;
    }
    // One that is not finite is left to a restart.
    const bool is_lost = state.has_direction && !std::isfinite(norm);
    if (!std::exchange(is_step_known, false) && !is_lost) {
      note(thread, norm, first_norm, report);
      has_direction = state.has_direction ? 1 : 0;
      if (is_checkpoint_due(report)) carry(Carry::keep);
    }
    if (report.status != SolveStatus::not_converged ||
        report.iterations >= options().stop.max_iterations)
      return;
    if (is_lost || !(step.denominator > 0)) {
      if (!state.has_direction) {
        if (!std::isfinite(step.denominator))
          return break_down(report, explain_curvature(step.denominator));
        return break_down(report,
                          fmt::format("r·A·r = {:.3g} is not positive: the matrix is not positive "
                                      "definite, or nothing but rounding is left to iterate on",
                                      step.denominator));
      }
      if (vain_restarts >= most_vain_restarts)
        return break_down(report,
                          fmt::format("{} restarts in succession have not reduced the residual: {}",
                                      vain_restarts, explain_curvature(step.denominator)));
      ++report.restarts;
      collective_begin_again(thread, b);
      is_restarted = true;
      state = {.r_square = std::max(step.r_square, bound)};
      continue;
    }
    state.p_norm = norm + std::abs(step.beta) * state.p_norm;
    if (!state.has_direction) state.fresh_square = step.r_square;
    collective_advance(thread, state, step);
    if (state.is_stale(step.r_square)) state.fresh_square = step.r_square;
    state.has_direction = true;
    state.r_square = step.r_square;
    state.r_dot_u = step.r_dot_u;
    state.alpha = step.alpha;
    ++report.iterations;
  }
}

}  // namespace weft::solver
