#include "solver/krylov/bicgstab.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;

}  // namespace

Bicgstab::Bicgstab(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      norm_(room_above_norm * op.collective_norm() * preconditioner_norm()),
      direction_(collective_make_sum(3)),
      stabilizer_(collective_make_sum(3)),
      residual_(collective_make_sum(2)),
      p_hat_(collective_make_operand()),
      r_hat_(collective_make_operand()) {
  for (Array* const array : {&shadow_, &v_, &t_, &other_x_}) *array = make_array();
  if (!is_identity())
    for (Array* const array : {&p_, &r_}) *array = make_array();
}

/// to = M·from; nothing with the identity, whose `from` is `to`.
void Bicgstab::collective_precondition(const TeamThread& thread, const double* from, double* to) {
  if (general()) {
    thread.barrier();
    return general()->apply(thread, from, to);
  }
  if (is_identity()) return;
  copy(thread, from, to);
  scale(thread, to);
}

void Bicgstab::collective_begin(const TeamThread& thread, const Solve& solve,
                                const double* product) {
  subtract(thread, solve.b, product, r());
  fill_zero(thread, {p(), v_.data()});
  thread.barrier();
}

/// r̂ = r. `bound`: of r·r.
Bicgstab::State Bicgstab::collective_start(const TeamThread& thread, double bound) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    BinnedSum square(bound);
    for_each_segment(
        thread, [&](std::size_t i, std::int64_t count) { add_square(r() + i, count, square); });
    copy(thread, r(), shadow_.data());
    BinnedSum again = square;  // r̂·r
    flush(residual_, thread, {&square, &again});
  }
  collective_reduce(thread, residual_);
  const double norm = std::sqrt(residual_.result(0));
  return {.r = norm, .shadow = norm, .rho = residual_.result(0)};
}

/// p, v = A·M·p and what α follows from; returns r̂·v.
double Bicgstab::collective_first_half(const TeamThread& thread, State& state) {
  const double p_bound =
      state.r + std::abs(state.beta) * (state.p + std::abs(state.omega) * state.v);
  BinnedSum p_square(p_bound * p_bound);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(
        thread, [&, beta = state.beta, omega = state.omega](std::size_t i, std::int64_t count) {
          double* const direction = p() + i;
          const double* const residual = r() + i;
          const double* const v = v_.data() + i;
          for (std::int64_t k = 0; k < count; ++k)
            direction[k] = residual[k] + beta * (direction[k] - omega * v[k]);
          add_square(direction, count, p_square);
        });
    collective_precondition(thread, p(), p_hat_->values());
  }
  collective_multiply(thread, *p_hat_, v_.data());
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    thread.barrier();
    const double v_bound = norm_ * p_bound;
    BinnedSum shadow_dot_v(state.shadow * v_bound);
    BinnedSum v_square(v_bound * v_bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_product(shadow_.data() + i, v_.data() + i, count, shadow_dot_v);
      add_square(v_.data() + i, count, v_square);
    });
    flush(direction_, thread, {&shadow_dot_v, &v_square, &p_square});
  }
  collective_reduce(thread, direction_);
  state.v = std::sqrt(direction_.result(1));
  state.p = std::sqrt(direction_.result(2));
  return direction_.result(0);
}

/// s = r − α·v, t = A·M·s, and the new x and r. `s_bound`: of ‖s‖.
void Bicgstab::collective_second_half(const TeamThread& thread, double alpha, double s_bound,
                                      const LeastIterate& iterates, State& state) {
  double* const x = iterates.next();
  BinnedSum s_square(s_bound * s_bound);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      if (x != iterates.current()) std::copy_n(iterates.current() + i, count, x + i);
      update_solution(alpha, p_hat_->values() + i, x + i, count);
      update_solution(-alpha, v_.data() + i, r() + i, count);
      add_square(r() + i, count, s_square);
    });
    collective_precondition(thread, r(), r_hat_->values());
  }
  collective_multiply(thread, *r_hat_, t_.data());
  const double bound = collective_find_omega(thread, s_bound, s_square, state);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    BinnedSum r_square(bound * bound);
    BinnedSum shadow_dot_r(state.shadow * bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      update_solution(state.omega, r_hat_->values() + i, x + i, count);
      update_solution(-state.omega, t_.data() + i, r() + i, count);
      add_square(r() + i, count, r_square);
      add_product(shadow_.data() + i, r() + i, count, shadow_dot_r);
    });
    flush(residual_, thread, {&r_square, &shadow_dot_r});
  }
  collective_reduce(thread, residual_);
  const double rho = residual_.result(1);
  state.r = std::sqrt(residual_.result(0));
  state.beta = state.omega == 0 ? 0 : rho / state.rho * (alpha / state.omega);
  state.rho = rho;
}

/// The ω that makes s − ω·t least. Returns a bound of that vector's norm.
double Bicgstab::collective_find_omega(const TeamThread& thread, double s_bound,
                                       BinnedSum& s_square, State& state) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    thread.barrier();
    const double t_bound = norm_ * s_bound;
    BinnedSum t_dot_s(t_bound * s_bound);
    BinnedSum t_square(t_bound * t_bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_product(t_.data() + i, r() + i, count, t_dot_s);
      add_square(t_.data() + i, count, t_square);
    });
    flush(stabilizer_, thread, {&t_dot_s, &t_square, &s_square});
  }
  collective_reduce(thread, stabilizer_);
  const double t = std::sqrt(stabilizer_.result(1));
  const double s = std::sqrt(stabilizer_.result(2));
  // Sums drop what is far below their bounds: t or s may be 0 where the vectors are not.
  const bool is_usable = t > 0 && std::abs(stabilizer_.result(0)) > least_cosine * t * s;
  state.omega = is_usable ? stabilizer_.result(0) / stabilizer_.result(1) : 0;
  return s > 0 ? s + std::abs(state.omega) * t : s_bound;
}

/// One iteration. False where α does not exist and nothing has been done.
bool Bicgstab::collective_step(const TeamThread& thread, LeastIterate& iterates, State& state) {
  const double shadow_dot_v = collective_first_half(thread, state);
  if (!(std::abs(shadow_dot_v) > least_cosine * state.shadow * state.v)) return false;
  const double alpha = state.rho / shadow_dot_v;
  collective_second_half(thread, alpha, state.r + std::abs(alpha) * state.v, iterates, state);
  iterates.advance(state.r);
  return true;
}

void Bicgstab::collective_carry_all(const TeamThread& thread, Carry direction, Solve& solve,
                                    State& state) {
  collective_carry(thread, direction, solve,
                   {&solve.bound, &state.before, &state.start_iteration, &state.r, &state.shadow,
                    &state.rho, &state.p, &state.v, &state.beta, &state.omega},
                   carried());
}

/// Begins again from the true residual. False where that has led to no iteration, which ends the
/// solve.
bool Bicgstab::collective_restart(const TeamThread& thread, bool is_step_done,
                                  LeastIterate& iterates, State& state, Solve& solve) {
  SolveReport& report = solve.report;
  const auto last_start = static_cast<std::int64_t>(state.start_iteration);
  const bool is_first = report.iterations == last_start + (is_step_done ? 1 : 0);
  if (is_first && !(is_step_done && state.r < state.before)) {
    break_down(report,
               "the first step from a residual failed, because r·A·M·r or ω is 0; "
               "gmres needs neither");
    return false;
  }
  ++report.restarts;
  settle(thread, iterates, other_x_.data());
  collective_begin_again(thread, solve);
  state = collective_start(thread, std::max(solve.bound, state.r * state.r));
  state.start_iteration = static_cast<double>(report.iterations);
  iterates.set_norm(state.r);
  return true;
}

void Bicgstab::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  SolveReport& report = solve.report;
  State state;
  bool is_restored = is_continued();
  if (is_restored) {
    collective_carry_all(thread, Carry::restore, solve, state);
  } else {
    state = collective_start(thread, solve.bound);
    state.start_iteration = static_cast<double>(report.iterations);
  }
  if (!solve.rule.has_first_norm()) {
    solve.know_first_norm(state.r);
    if (report.status != SolveStatus::not_converged) return;
  }
  LeastIterate iterates(x_.data(), other_x_.data(), state.r);
  while (solve.goes_on()) {
    bool is_done = true;
    if (!std::exchange(is_restored, false)) {
      state.before = state.r;
      is_done = collective_step(thread, iterates, state);
      if (is_done) {
        ++report.iterations;
        note(thread, state.r, solve);
        if (is_checkpoint_due(report)) {
          settle(thread, iterates, other_x_.data());
          collective_carry_all(thread, Carry::keep, solve, state);
        }
        if (report.status != SolveStatus::not_converged) break;
      }
    }
    if (!std::isfinite(state.r)) break;
    const bool is_usable =
        is_done && state.omega != 0 && std::abs(state.rho) > least_cosine * state.shadow * state.r;
    if (!is_usable && !collective_restart(thread, is_done, iterates, state, solve)) break;
  }
  if (!std::isfinite(state.r) && report.status != SolveStatus::diverged)
    break_down(report, "the residual left the range of double; gmres cannot diverge");
  settle_at_end(thread, iterates, other_x_.data(), solve);
}

}  // namespace weft::solver
