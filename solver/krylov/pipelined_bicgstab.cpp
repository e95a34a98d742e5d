#include "solver/krylov/pipelined_bicgstab.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solver/krylov/bicgstab.h"
#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;

/// to = from + beta·(to − omega·other).
void combine(const double* from, double beta, double omega, const double* other, double* to,
             std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = from[k] + beta * (to[k] - omega * other[k]);
}

}  // namespace

PipelinedBicgstab::PipelinedBicgstab(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      norm_(room_above_norm * op.collective_norm() * preconditioner_norm()),
      stabilizer_(collective_make_sum(7)),
      residual_(collective_make_sum(4)),
      w_hat_(collective_make_operand()),
      z_hat_(collective_make_operand()) {
  for (Array* const array : {&shadow_, &r_, &p_hat_, &s_, &t_, &v_, &other_x_})
    *array = make_array();
  if (!is_identity())
    for (Array* const array : {&r_hat_, &s_hat_, &w_, &z_}) *array = make_array();
}

/// hat = M·from, which all threads have written; product = A·hat. With the identity `from` is the
/// operand itself.
void PipelinedBicgstab::collective_apply(const TeamThread& thread, const double* from,
                                         spmv::Operand& hat, double* product) {
  if (!is_identity()) {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    if (general()) {
      general()->apply(thread, from, hat.values());
    } else {
      copy(thread, from, hat.values());
      scale(thread, hat.values());
    }
  }
  collective_multiply(thread, hat, product);
  thread.barrier();
}

/// r, w = A·M·r and t = A·M·w of the residual b − product.
void PipelinedBicgstab::collective_begin(const TeamThread& thread, const Solve& solve,
                                         const double* product) {
  subtract(thread, solve.b, product, r_.data());
  fill_zero(thread, {p_hat_.data(), s_.data(), v_.data(), z()});
  copy(thread, r_.data(), is_identity() ? w() : shadow_.data());
  if (!is_identity()) fill_zero(thread, {s_hat_.data(), z_hat_->values()});
  thread.barrier();
  collective_apply(thread, shadow_.data(), *w_hat_, t_.data());
  if (!is_identity()) copy(thread, w_hat_->values(), r_hat_.data());
  copy(thread, t_.data(), w());
  copy(thread, r_.data(), shadow_.data());
  thread.barrier();
  collective_apply(thread, w(), *w_hat_, t_.data());
}

/// α of the next step, and β, whose ω and ρ of the last step are known; NaN where they do not
/// exist.
void PipelinedBicgstab::set_step(State& state, double rho, double shadow_dot_w) {
  const double beta = state.omega == 0 ? 0 : state.alpha / state.omega * (rho / state.rho);
  const double denominator =
      shadow_dot_w + beta * (state.shadow_dot_s - state.omega * state.shadow_dot_z);
  const double size = state.w + std::abs(beta) * (state.s + std::abs(state.omega) * state.z);
  state.beta = beta;
  state.rho = rho;
  state.alpha = std::abs(denominator) > Bicgstab::least_cosine * state.shadow * size
                    ? rho / denominator
                    : std::numeric_limits<double>::quiet_NaN();
}

/// r̂ = r. `bound`: of r·r.
PipelinedBicgstab::State PipelinedBicgstab::collective_start(const TeamThread& thread,
                                                             double bound) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    BinnedSum r_square(bound);
    BinnedSum none(bound);
    BinnedSum shadow_dot_w(norm_ * bound);
    BinnedSum w_square(norm_ * norm_ * bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_square(r_.data() + i, count, r_square);
      add_product(r_.data() + i, w() + i, count, shadow_dot_w);
      add_square(w() + i, count, w_square);
    });
    flush(residual_, thread, {&r_square, &none, &shadow_dot_w, &w_square});
  }
  collective_reduce(thread, residual_);
  const double norm = std::sqrt(residual_.result(0));
  State state{.r = norm, .w = std::sqrt(residual_.result(3)), .shadow = norm};
  set_step(state, residual_.result(0), residual_.result(2));
  return state;
}

/// ω, and what the next step needs of s and z.
void PipelinedBicgstab::set_omega(State& state) const {
  const double y = std::sqrt(stabilizer_.result(1));
  const double q = std::sqrt(stabilizer_.result(2));
  // Sums drop what is far below their bounds, as in Bicgstab.
  const bool is_usable = y > 0 && std::abs(stabilizer_.result(0)) > Bicgstab::least_cosine * q * y;
  state.omega = is_usable ? stabilizer_.result(0) / stabilizer_.result(1) : 0;
  state.shadow_dot_s = stabilizer_.result(3);
  state.shadow_dot_z = stabilizer_.result(4);
  state.s = std::sqrt(stabilizer_.result(5));
  state.z = std::sqrt(stabilizer_.result(6));
}

/// p, s, z, q and y of `count` rows from row i on.
void PipelinedBicgstab::advance_directions(const State& state, std::size_t i, std::int64_t count) {
  const double alpha = state.alpha;
  const double beta = state.beta;
  const double omega = state.omega;
  double* const r = r_.data() + i;
  double* const s = s_.data() + i;
  double* const y = w() + i;
  if (is_identity()) {
    combine(r, beta, omega, s, p_hat_.data() + i, count);
  } else {
    combine(r_hat_.data() + i, beta, omega, s_hat_.data() + i, p_hat_.data() + i, count);
    combine(w_hat_->values() + i, beta, omega, z_hat_->values() + i, s_hat_.data() + i, count);
    update_solution(-alpha, s_hat_.data() + i, r_hat_.data() + i, count);
  }
  combine(y, beta, omega, z() + i, s, count);
  combine(t_.data() + i, beta, omega, v_.data() + i, z() + i, count);
  update_solution(-alpha, s, r, count);
  update_solution(-alpha, z() + i, y, count);
}

/// p, s, z, q and y; and ω from them, while v = A·M·z is computed.
void PipelinedBicgstab::collective_first_half(const TeamThread& thread, State& state) {
  const double beta = std::abs(state.beta);
  const double omega = std::abs(state.omega);
  const double s_bound = state.w + beta * (state.s + omega * state.z);
  const double z_bound = norm_ * state.w + beta * (1 + omega * norm_) * state.z;
  const double q_bound = state.r + std::abs(state.alpha) * s_bound;
  const double y_bound = state.w + std::abs(state.alpha) * z_bound;
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    BinnedSum q_dot_y(q_bound * y_bound);
    BinnedSum y_square(y_bound * y_bound);
    BinnedSum q_square(q_bound * q_bound);
    BinnedSum shadow_dot_s(state.shadow * s_bound);
    BinnedSum shadow_dot_z(state.shadow * z_bound);
    BinnedSum s_square(s_bound * s_bound);
    BinnedSum z_square(z_bound * z_bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      advance_directions(state, i, count);
      const double* const r = r_.data() + i;
      const double* const s = s_.data() + i;
      const double* const y = w() + i;
      add_product(r, y, count, q_dot_y);
      add_square(y, count, y_square);
      add_square(r, count, q_square);
      add_product(shadow_.data() + i, s, count, shadow_dot_s);
      add_product(shadow_.data() + i, z() + i, count, shadow_dot_z);
      add_square(s, count, s_square);
      add_square(z() + i, count, z_square);
    });
    flush(stabilizer_, thread,
          {&q_dot_y, &y_square, &q_square, &shadow_dot_s, &shadow_dot_z, &s_square, &z_square});
  }
  stabilizer_.collective_start(thread);
  collective_apply(thread, z(), *z_hat_, v_.data());
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  stabilizer_.collective_finish(thread);
  set_omega(state);
}

/// x, r and w of `count` rows from row i on.
void PipelinedBicgstab::advance_iterate(const State& state, const LeastIterate& iterates,
                                        std::size_t i, std::int64_t count) {
  const double alpha = state.alpha;
  const double omega = state.omega;
  double* const x = iterates.next() + i;
  double* const r = r_.data() + i;
  double* const y_and_w = w() + i;
  if (iterates.next() != iterates.current()) std::copy_n(iterates.current() + i, count, x);
  update_solution(alpha, p_hat_.data() + i, x, count);
  update_solution(omega, is_identity() ? r : r_hat_.data() + i, x, count);
  update_solution(-omega, y_and_w, r, count);
  const double* const t = t_.data() + i;
  const double* const v = v_.data() + i;
  for (std::int64_t k = 0; k < count; ++k) y_and_w[k] -= omega * (t[k] - alpha * v[k]);
  if (is_identity()) return;
  const double* const w_hat = w_hat_->values() + i;
  const double* const z_hat = z_hat_->values() + i;
  double* const r_hat = r_hat_.data() + i;
  for (std::int64_t k = 0; k < count; ++k) r_hat[k] -= omega * (w_hat[k] - alpha * z_hat[k]);
}

/// x, r and w; and the next α and β from them, while t = A·M·w is computed.
void PipelinedBicgstab::collective_second_half(const TeamThread& thread,
                                               const LeastIterate& iterates, State& state) {
  const double alpha = std::abs(state.alpha);
  const double omega = std::abs(state.omega);
  const double q = std::sqrt(stabilizer_.result(2));
  const double y = std::sqrt(stabilizer_.result(1));
  const double r_bound = q > 0 ? q + omega * y : state.r + alpha * state.s;
  const double w_bound = y + omega * norm_ * (state.w + alpha * state.z);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    BinnedSum r_square(r_bound * r_bound);
    BinnedSum shadow_dot_r(state.shadow * r_bound);
    BinnedSum shadow_dot_w(state.shadow * w_bound);
    BinnedSum w_square(w_bound * w_bound);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      advance_iterate(state, iterates, i, count);
      const double* const r = r_.data() + i;
      add_square(r, count, r_square);
      add_product(shadow_.data() + i, r, count, shadow_dot_r);
      add_product(shadow_.data() + i, w() + i, count, shadow_dot_w);
      add_square(w() + i, count, w_square);
    });
    flush(residual_, thread, {&r_square, &shadow_dot_r, &shadow_dot_w, &w_square});
  }
  residual_.collective_start(thread);
  collective_apply(thread, w(), *w_hat_, t_.data());
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  residual_.collective_finish(thread);
  state.r = std::sqrt(residual_.result(0));
  state.w = std::sqrt(residual_.result(3));
  set_step(state, residual_.result(1), residual_.result(2));
}

void PipelinedBicgstab::collective_carry_all(const TeamThread& thread, Carry direction,
                                             Solve& solve, State& state) {
  collective_carry(thread, direction, solve,
                   {&solve.bound, &state.start_iteration, &state.r, &state.w, &state.s, &state.z,
                    &state.shadow, &state.rho, &state.alpha, &state.beta, &state.omega,
                    &state.shadow_dot_s, &state.shadow_dot_z},
                   carried());
}

/// Begins again from the true residual. False where that has led to no iteration, which ends the
/// solve.
bool PipelinedBicgstab::collective_restart(const TeamThread& thread, LeastIterate& iterates,
                                           State& state, Solve& solve) {
  SolveReport& report = solve.report;
  if (report.iterations == static_cast<std::int64_t>(state.start_iteration)) {
    break_down(report,
               "the first step from a residual does not exist, because r·A·M·r "
               "is 0; gmres does not need it");
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

void PipelinedBicgstab::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  SolveReport& report = solve.report;
  State state;
  if (is_continued()) {
    collective_carry_all(thread, Carry::restore, solve, state);
    collective_apply(thread, w(), *w_hat_, t_.data());
    collective_apply(thread, z(), *z_hat_, v_.data());
  } else {
    state = collective_start(thread, solve.bound);
    state.start_iteration = static_cast<double>(report.iterations);
  }
  solve.know_first_norm(state.r);
  LeastIterate iterates(x_.data(), other_x_.data(), state.r);
  while (solve.goes_on()) {
    const bool is_usable =
        std::isfinite(state.alpha) &&
        std::abs(state.rho) > Bicgstab::least_cosine * state.shadow * state.r &&
        (state.omega != 0 || static_cast<double>(report.iterations) == state.start_iteration);
    if (!is_usable) {
      if (!collective_restart(thread, iterates, state, solve)) break;
      continue;
    }
    collective_first_half(thread, state);
    collective_second_half(thread, iterates, state);
    iterates.advance(state.r);
    ++report.iterations;
    note(thread, state.r, solve);
    if (!std::isfinite(state.r)) {
      break_down(report, "the residual left the range of double; gmres cannot diverge");
      break;
    }
    if (is_checkpoint_due(report)) {
      settle(thread, iterates, other_x_.data());
      collective_carry_all(thread, Carry::keep, solve, state);
    }
  }
  settle_at_end(thread, iterates, other_x_.data(), solve);
}

}  // namespace weft::solver
