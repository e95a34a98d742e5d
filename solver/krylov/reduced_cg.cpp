#include "solver/krylov/reduced_cg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
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
      sums_(collective_make_sum(sum_count)),
      fitted_(op, extra_sum()) {}

double ReducedCg::estimate(std::size_t number, double r_square, double p_square) const {
  if (!is_added(number)) return 0;
  const Product& product = products_[number];
  const double square = product.is_of_p ? p_square : r_square;
  if (square == 0) return 0;
  double factor = 1;
  for (int i = 0; i < product.norms; ++i) factor *= norm_;
  for (int i = 0; i < product.inverses; ++i) factor *= preconditioner_norm();
  return factor * square;
}

template <class Sum>
void ReducedCg::add_products_as(const TeamThread& thread, std::size_t count, double r_square,
                                double p_square) {
  std::array<Sum, most_products> sums{Sum(0), Sum(0), Sum(0), Sum(0), Sum(0)};
  for (std::size_t k = 0; k < count; ++k)
    sums[k] = Sum(next_bound<Sum>(thread, k, r_square, p_square));
  for_each_segment(thread, [&](std::size_t i, std::int64_t length) {
    const auto scale_of = [&](const Factor& factor) {
      return factor.is_scaled ? diagonal(i) : nullptr;
    };
    for (std::size_t k = 0; k < count; ++k) {
      const auto& [a, b, norms, inverses, is_of_p] = products_[k];
      if (is_added(k))
        add_scaled_product(scale_of(a), a.values + i, scale_of(b), b.values + i, length, sums[k]);
    }
  });
  for (std::size_t k = 0; k < count; ++k)
    sums[k].flush(sums_.part(thread.index, static_cast<int>(k)));
}

void ReducedCg::add_products(const TeamThread& thread, std::size_t count, double r_square,
                             double p_square) {
  if (general()) return add_products_as<spmv::BinnedSum>(thread, count, r_square, p_square);
  add_products_as<spmv::CloseSum>(thread, count, r_square, p_square);
}

std::array<double, ReducedCg::most_products> ReducedCg::collective_fit(const TeamThread& thread) {
  std::array<double, most_products> values{};
  for (std::size_t k = 0; k < products_.size(); ++k) values[k] = sums_.result(static_cast<int>(k));
  const double* const d = diagonal(0);
  fitted_.collective_fit(
      thread, std::span(values).first(products_.size()), [&](std::size_t k, std::size_t i) {
        const auto value = [&](const Factor& factor) {
          return factor.is_scaled && d ? d[i] * factor.values[i] : factor.values[i];
        };
        return value(products_[k].a) * value(products_[k].b);
      });
  return values;
}

ReducedCg::Step ReducedCg::step_from(const State& state, double r_square, double gamma,
                                     double delta) {
  Step step{.r_square = r_square, .r_dot_u = gamma};
  step.beta = state.has_direction ? gamma / state.r_dot_u : 0;
  step.denominator = state.has_direction ? delta - step.beta * gamma / state.alpha : delta;
  step.alpha = gamma / step.denominator;
  return step;
}

void ReducedCg::collective_carry_all(const TeamThread& thread, Carry direction, Solve& solve,
                                     State& state, Step& step) {
  double has_direction = state.has_direction ? 1 : 0;
  std::vector<double*> scalars{&solve.bound,        &has_direction, &state.r_square,
                               &state.r_dot_u,      &state.alpha,   &state.p_norm,
                               &state.fresh_square, &step.r_square, &step.r_dot_u,
                               &step.alpha,         &step.beta,     &step.denominator};
  fitted_.append_carried(thread, most_products, scalars);
  collective_carry(thread, direction, solve, scalars, carried());
  if (direction == Carry::keep) return;
  state.has_direction = has_direction != 0;
  collective_complete(thread);
}

/// After a step that is not usable. False where the solve ends, as a breakdown.
bool ReducedCg::may_begin_again(const State& state, const Step& step, int vain_restarts,
                                SolveReport& report) const {
  if (!state.has_direction && !std::isfinite(step.denominator))
    break_down(report, explain_curvature(step.denominator));
  else if (!state.has_direction)
    break_down(report, fmt::format("r·A·r = {:.3g} is not positive: the matrix is not positive "
                                   "definite, or nothing but rounding is left to iterate on",
                                   step.denominator));
  else if (vain_restarts >= most_vain_restarts)
    break_down(report, fmt::format("{} restarts in succession have not reduced the residual: {}",
                                   vain_restarts, explain_curvature(step.denominator)));
  return report.status == SolveStatus::not_converged;
}

void ReducedCg::Restarts::note(double norm) {
  if (!std::exchange(is_last, false)) return;
  vain = norm < StopRule::least_gain * least_norm ? 0 : vain + 1;
  least_norm = std::min(least_norm, norm);
}

/// The step, and the state after it.
void ReducedCg::collective_advance_all(const TeamThread& thread, State& state, Step& step) {
  state.p_norm = std::sqrt(step.r_square) + std::abs(step.beta) * state.p_norm;
  if (!state.has_direction) state.fresh_square = step.r_square;
  collective_advance(thread, state, step);
  if (state.is_stale(step.r_square)) state.fresh_square = step.r_square;
  state.has_direction = true;
  state.r_square = step.r_square;
  state.r_dot_u = step.r_dot_u;
  state.alpha = step.alpha;
}

void ReducedCg::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  SolveReport& report = solve.report;
  State state{.r_square = solve.bound};
  Step step;
  fitted_.reset(thread);
  Restarts restarts;
  bool is_step_known = is_continued();
  if (is_step_known) collective_carry_all(thread, Carry::restore, solve, state, step);
  while (true) {
    if (!is_step_known) step = collective_next_step(thread, state);
    const double norm = std::sqrt(step.r_square);
    restarts.note(norm);
    if (!solve.rule.has_first_norm()) {
      solve.know_first_norm(norm);
      if (report.status != SolveStatus::not_converged) return;
    }
    // One that is not finite is left to a restart.
    const bool is_lost = state.has_direction && !std::isfinite(norm);
    if (!std::exchange(is_step_known, false) && !is_lost) {
      note(thread, norm, solve);
      if (is_checkpoint_due(report)) collective_carry_all(thread, Carry::keep, solve, state, step);
    }
    if (!solve.goes_on()) return;
    if (is_lost || !(step.denominator > 0)) {
      if (!may_begin_again(state, step, restarts.vain, report)) return;
      ++report.restarts;
      collective_begin_again(thread, solve);
      restarts.is_last = true;
      state = {.r_square = std::max(step.r_square, solve.bound)};
      continue;
    }
    collective_advance_all(thread, state, step);
    ++report.iterations;
  }
}

}  // namespace weft::solver
