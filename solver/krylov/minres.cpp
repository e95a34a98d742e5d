#include "solver/krylov/minres.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"
#include "solver/report/stop_rule.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;

/// Less than this of the tridiagonal matrix is rounding.
constexpr double least_turned = 64 * std::numeric_limits<double>::epsilon();

/// x is kept where A·r is smaller than this. At its least before orthogonality is lost it is about
/// 1e-8 of ‖A‖·‖r‖.
constexpr double least_turned_to_keep = 1e-6;
/// x is kept again where A·r is smaller by this.
constexpr double better_turned = 1.0 / 64;
/// The part of r by the recurrence at which it is checked, and that of b − A·x which passes.
constexpr double checked_part = 0.5;
constexpr double passing_part = 0.75;

constexpr const char* is_least =
    "A·r is zero but for rounding and r is not: no x solves the system, and this one leaves the "
    "least residual";
constexpr const char* not_definite =
    "v·M·v is not positive: the preconditioner is not positive definite; gmres takes any";

}  // namespace

Minres::Minres(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      norm_(op.collective_norm()),
      curvature_(collective_make_sum(1)),
      length_(collective_make_sum(4)),
      z_(collective_make_operand()) {
  for (Array* const array : {&r_, &q_, &v_[0], &v_[1], &w_[0], &w_[1]}) *array = make_array();
  if (!is_identity()) m_ = make_array();
  least_ = make_untouched_array();
}

void Minres::collective_begin(const TeamThread& thread, const Solve& solve, const double* product) {
  subtract(thread, solve.b, product, r_.data());
  fill_zero(thread, {v_[1].data(), w_[0].data(), w_[1].data()});
  copy(thread, r_.data(), v_[0].data());
  thread.barrier();
}

/// M·v, and the sums of v and r, whose norms the bounds are of.
void Minres::collective_measure(const TeamThread& thread, const double* v, double v_bound,
                                double r_bound) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    if (general()) {
      thread.barrier();
      general()->apply(thread, v, m_.data());
    } else if (!is_identity()) {
      copy(thread, v, m_.data());
      scale(thread, m_.data());
    }
    BinnedSum v_dot_z(preconditioner_norm() * v_bound * v_bound);
    BinnedSum v_square(v_bound * v_bound);
    BinnedSum r_dot_v(r_bound * v_bound);
    BinnedSum r_square(r_bound * r_bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      if (!is_identity()) add_product(v + i, m_.data() + i, count, v_dot_z);
      add_square(v + i, count, v_square);
      add_product(r_.data() + i, v + i, count, r_dot_v);
      add_square(r_.data() + i, count, r_square);
    });
    flush(length_, thread, {&v_dot_z, &v_square, &r_dot_v, &r_square});
  }
  collective_reduce(thread, length_);
}

Minres::State Minres::start_state() {
  State state;
  state.v = v_[0].data();
  state.v_before = v_[1].data();
  state.w = w_[0].data();
  state.w_before = w_[1].data();
  return state;
}

/// v_1 and z_1 of the residual. `bound`: of r·r.
Minres::State Minres::collective_start(const TeamThread& thread, double bound) {
  collective_measure(thread, v_[0].data(), std::sqrt(bound), std::sqrt(bound));
  const double square = length_.result(1);
  const double length = std::sqrt(is_identity() ? square : length_.result(0));
  State state = start_state();
  state.eta = length;
  state.v_norm = std::sqrt(square) / length;
  state.r = std::sqrt(square);
  if (!(length > 0)) return state;
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double* const from = m(state.v);
  double* const z = z_->values();
  for_each_element(thread, [&](std::size_t i) {
    z[i] = from[i] / length;
    state.v[i] /= length;
  });
  return state;
}

/// Turns `column` of the tridiagonal matrix by the last two rotations and a new one. False where
/// nothing but rounding is left of it.
bool Minres::turn(State& state, double delta, double gamma, std::span<double, 3> column) {
  state.t_norm = std::max(state.t_norm, std::hypot(delta, gamma, state.gamma));
  const double first = state.cosine * delta - state.cosine_before * state.sine * state.gamma;
  const double turned = std::hypot(first, state.cosine * gamma);
  if (!(turned > least_turned * state.t_norm)) return false;
  state.turned = turned / state.t_norm;
  const double length = std::hypot(first, gamma);
  column[0] = state.sine_before * state.gamma;
  column[1] = state.sine * delta + state.cosine_before * state.cosine * state.gamma;
  column[2] = length;
  state.cosine_before = std::exchange(state.cosine, first / length);
  state.sine_before = std::exchange(state.sine, gamma / length);
  return true;
}

/// w_j, x, r, and v_{j+1} and its z at their length. `column`: of the rotated matrix.
void Minres::update(const TeamThread& thread, State& state, double gamma,
                    std::span<const double, 3> column) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double step = state.cosine * state.eta;
  const double kept = state.sine * state.sine;
  const double added = -state.sine * state.eta * state.cosine;
  const double factor = gamma > 0 ? 1 / gamma : 0;
  const double* const from = m(state.v_before);
  double* const z = z_->values();
  for_each_element(thread, [&](std::size_t i) {
    const double w = (z[i] - column[0] * state.w_before[i] - column[1] * state.w[i]) / column[2];
    const double v = factor * state.v_before[i];
    z[i] = factor * from[i];
    state.w_before[i] = w;
    state.v_before[i] = v;
    x_[i] += step * w;
    r_[i] = kept * r_[i] + added * v;
  });
}

void Minres::collective_step(const TeamThread& thread, State& state, SolveReport& report) {
  const double z_bound = preconditioner_norm() * state.v_norm;
  collective_multiply(thread, *z_, q_.data(),
                      {&curvature_.part(thread.index), norm_ * z_bound * z_bound});
  collective_reduce(thread, curvature_);
  const double delta = curvature_.result();
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_element(thread, [&, gamma = state.gamma](std::size_t i) {
      state.v_before[i] = q_[i] - delta * state.v[i] - gamma * state.v_before[i];
    });
  }
  collective_measure(
      thread, state.v_before,
      norm_ * z_bound + std::abs(delta) * state.v_norm + state.gamma * state.v_norm_before,
      state.r);
  const double v_square = length_.result(1);
  const double gamma_square = is_identity() ? v_square : length_.result(0);
  if (!std::isfinite(gamma_square))
    return break_down(report, "the residual left the range of double; scale the system");
  if (!(gamma_square >= 0)) return break_down(report, not_definite);
  const double gamma = std::sqrt(gamma_square);

  std::array<double, 3> column{};
  if (!turn(state, delta, gamma, column)) return break_down(report, is_least);
  update(thread, state, gamma, column);

  const double kept = state.sine * state.sine;
  const double added = gamma > 0 ? -state.sine * state.eta * state.cosine / gamma : 0;
  const double square = kept * kept * length_.result(3) + 2 * kept * added * length_.result(2) +
                        added * added * v_square;
  state.eta *= -state.sine;
  state.r = std::sqrt(std::max(square, 0.0));
  state.gamma = gamma;
  state.v_norm_before = std::exchange(state.v_norm, gamma > 0 ? std::sqrt(v_square) / gamma : 0);
  std::swap(state.v, state.v_before);
  std::swap(state.w, state.w_before);
}

/// x is the one that was kept.
void Minres::go_back(const TeamThread& thread, const Kept& kept, Solve& solve) {
  copy(thread, least_.data(), x_.data());
  thread.barrier();
  solve.report.recurrence_residual = solve.rule.relative(kept.r);
  break_down(solve.report, is_least);
}

/// Keeps x, or compares it with the one that was kept. After a step.
void Minres::collective_watch(const TeamThread& thread, const State& state, Kept& kept,
                              Solve& solve) {
  if (kept.r > 0 && state.r < checked_part * kept.r) {
    if (!(collective_true_norm(thread, solve) < passing_part * kept.r))
      return go_back(thread, kept, solve);
    // z has been lent.
    const double factor = state.gamma > 0 ? 1 / state.gamma : 0;
    double* const z = z_->values();
    for_each_element(thread,
                     [&](std::size_t i) { z[i] = is_identity() ? state.v[i] : factor * m_[i]; });
    kept = {};
  }
  if (state.turned < (kept.r > 0 ? better_turned * kept.turned : least_turned_to_keep)) {
    copy(thread, x_.data(), least_.data());
    kept = {.r = state.r, .turned = state.turned};
  }
}

void Minres::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  SolveReport& report = solve.report;
  State state = start_state();
  const auto carry = [&](Carry direction) {
    collective_carry(
        thread, direction, solve,
        {&state.gamma, &state.eta, &state.cosine, &state.cosine_before, &state.sine,
         &state.sine_before, &state.v_norm, &state.v_norm_before, &state.r, &state.t_norm},
        {x_.data(), r_.data(), z_->values(), state.v, state.v_before, state.w, state.w_before});
  };
  const bool starts = !is_continued();
  if (starts)
    state = collective_start(thread, solve.bound);
  else
    carry(Carry::restore);
  solve.know_first_norm(state.r);
  // Later its sign alternates.
  if (starts && report.status == SolveStatus::not_converged && !(state.eta > 0))
    return break_down(report, not_definite);
  Kept kept;
  while (solve.goes_on()) {
    collective_step(thread, state, report);
    if (report.status != SolveStatus::not_converged) return;
    ++report.iterations;
    note(thread, state.r, solve);
    collective_watch(thread, state, kept, solve);
    if (is_checkpoint_due(report)) carry(Carry::keep);
  }
  if (kept.r > 0 && report.status == SolveStatus::not_converged &&
      !(collective_true_norm(thread, solve) <= StopRule::allowed_drift * kept.r))
    go_back(thread, kept, solve);
}

}  // namespace weft::solver
