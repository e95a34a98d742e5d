// The recurrence of BlockCg, between its start and its verification.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "solver/krylov/block_cg.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/method.h"
#include "solver/krylov/reduced_cg_kernels.h"
#include "solver/report/stop_rule.h"
#include "spmv/sums/block_dot.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;
using spmv::BlockRows;
using spmv::CloseSum;

/// The steps of TextbookCg for all vectors that are running. Every thread.
void BlockCg::collective_iterate(const TeamThread& thread, States& states) {
  for (std::size_t v = 0; v < states.size(); ++v) {
    if (!states[v].is_running) continue;
    fitted_[v].reset(thread);
    start_one_residual(thread, v, states[v]);
  }
  collective_find_norms(thread, states);
  for (std::size_t v = 0; v < states.size(); ++v) {
    State& state = states[v];
    if (!state.is_running) continue;
    state.p = 0;
    state.alpha = 0;
    state.beta = 0;
    if (state.first_norm < 0) {
      state.first_norm = state.r;
      state.report = StopRule(stops_[v], state.first_norm).start(state.bound);
    }
    state.is_running = state.report.status == SolveStatus::not_converged &&
                       state.report.iterations < stops_[v].max_iterations;
    if (!state.is_running) finish(thread, v, state.alpha);
  }
  const spmv::OnBlockRows on_rows = [this, &states](const TeamThread& mine, const BlockRows& rows) {
    take(rows);
    if (!rows.ended) return;
    op_.matrix().for_each_completed_block(
        *rows.ended, [&](spmv::LocalIndex block, spmv::LocalIndex count) {
          for (std::size_t v = 0; v < states.size(); ++v)
            if (states[v].is_running)
              curvature_.part(mine.index, static_cast<int>(v))
                  .add(spmv::block_dot(vectors_[v].p.data() + block, vectors_[v].q.data() + block,
                                       count));
        });
  };
  const auto is_running = [](const State& state) { return state.is_running; };
  while (std::ranges::any_of(states, is_running)) {
    collective_advance(thread, states);
    multiply_block(thread, on_rows, timer_);
    {
      const PhaseScope scope(timer_, thread.index, Phase::reduction);
      curvature_.collective_reduce(thread);
    }
    collective_update_residuals(thread, states);
  }
}

/// x += α·p, p = z + β·p, and all p to the block.
void BlockCg::collective_advance(const TeamThread& thread, States& states) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  for (State& state : states)
    if (state.is_running)
      state.p = preconditioner_norm() * state.r + std::abs(state.beta) * state.p;
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    for (std::size_t v = 0; v < states.size(); ++v) {
      if (!states[v].is_running) continue;
      Vector& mine = vectors_[v];
      const double* const z = general() ? mine.z.data() : mine.r.data();
      update_solution_and_direction(states[v].alpha, states[v].beta, z + i, inverse_diagonal(i),
                                    mine.x.data() + i, mine.p.data() + i, count);
    }
    interleave(i, count, &Vector::p);
  });
}

/// r -= α·q, the norms of the new residual and β; ends what has converged or broken down.
void BlockCg::collective_update_residuals(const TeamThread& thread, States& states) {
  for (std::size_t v = 0; v < states.size(); ++v) {
    State& state = states[v];
    if (!state.is_running) continue;
    const double curvature = curvature_.result(static_cast<int>(v));
    if (!(curvature > 0)) {
      state.report.status = SolveStatus::breakdown;
      state.report.explanation = KrylovMethod::explain_curvature(curvature);
      state.is_running = false;
      continue;
    }
    state.alpha = state.r_dot_z / curvature;
    state.bound = state.r * state.r;
    update_one_residual(thread, v, state);
  }
  for (State& state : states) state.last_r_dot_z = state.r_dot_z;
  collective_find_norms(thread, states);
  for (std::size_t v = 0; v < states.size(); ++v) {
    State& state = states[v];
    if (!state.is_running) continue;
    state.beta = state.r_dot_z / state.last_r_dot_z;
    ++state.report.iterations;
    note(thread, static_cast<int>(v), state);
    if (!state.is_running) finish(thread, v, state.alpha);
  }
}

void BlockCg::update_one_residual(const TeamThread& thread, std::size_t v, const State& state) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  Vector& mine = vectors_[v];
  ResidualSums sums = next_sums(thread, v, state);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    if (general())
      update_solution(-state.alpha, mine.q.data() + i, mine.r.data() + i, count);
    else
      update_residual(state.alpha, mine.q.data() + i, inverse_diagonal(i), mine.r.data() + i, count,
                      sums);
  });
  flush(thread, v, sums);
}

void BlockCg::start_one_residual(const TeamThread& thread, std::size_t v, const State& state) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  double* const r = vectors_[v].r.data();
  ResidualSums sums = next_sums(thread, v, state);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    if (!general()) start_residual(r + i, inverse_diagonal(i), r + i, count, sums);
  });
  flush(thread, v, sums);
}

/// The sums of a fused pass.
ResidualSums BlockCg::next_sums(const TeamThread& thread, std::size_t v, const State& state) {
  const double z_estimate = is_identity() ? 0 : preconditioner_norm() * state.bound;
  return {fitted_[v].next<CloseSum>(thread, 0, state.bound),
          fitted_[v].next<CloseSum>(thread, 1, z_estimate)};
}

/// Adds the sums of a pass to the reduction; nothing where a general preconditioner comes first.
void BlockCg::flush(const TeamThread& thread, std::size_t v, ResidualSums& sums) {
  if (general()) return;
  const int first = 2 * static_cast<int>(v);
  sums.r_dot_r.flush(residual_.part(thread.index, first));
  if (!is_identity()) sums.r_dot_z.flush(residual_.part(thread.index, first + 1));
}

/// ‖r‖ and r·z, z = M·r, of all vectors that are running.
void BlockCg::collective_find_norms(const TeamThread& thread, States& states) {
  for (std::size_t v = 0; general() && v < states.size(); ++v)
    if (states[v].is_running) collective_precondition(thread, v, states[v]);
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    residual_.collective_reduce(thread);
  }
  for (std::size_t v = 0; v < states.size(); ++v) {
    if (!states[v].is_running) continue;
    const int first = 2 * static_cast<int>(v);
    std::array<double, 2> values{residual_.result(first), residual_.result(first + 1)};
    const double* const r = vectors_[v].r.data();
    const double* const z = vectors_[v].z.data();
    const double* const inverse = inverse_diagonal(0);
    fitted_[v].collective_fit(thread, values, [&](std::size_t sum, std::size_t i) {
      return r[i] * (sum == 0 ? r[i] : general() ? z[i] : inverse[i] * r[i]);
    });
    states[v].r = std::sqrt(values[0]);
    states[v].r_dot_z = is_identity() ? values[0] : values[1];
  }
}

/// z = M·r for a general M, after all threads have written r, and the sums of both.
void BlockCg::collective_precondition(const TeamThread& thread, std::size_t v, const State& state) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  Vector& mine = vectors_[v];
  thread.barrier();
  general()->apply_to(thread, static_cast<int>(v), mine.r.data(), mine.z.data());
  CloseSum r_dot_r(fitted_[v].next<CloseSum>(thread, 0, state.bound));
  BinnedSum r_dot_z(fitted_[v].next<BinnedSum>(thread, 1, preconditioner_norm() * state.bound));
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_product(mine.r.data() + i, mine.r.data() + i, count, r_dot_r);
    add_product(mine.r.data() + i, mine.z.data() + i, count, r_dot_z);
  });
  r_dot_r.flush(residual_.part(thread.index, 2 * static_cast<int>(v)));
  r_dot_z.flush(residual_.part(thread.index, 2 * static_cast<int>(v) + 1));
}

/// x += α·p: the last step of a vector.
void BlockCg::finish(const TeamThread& thread, std::size_t v, double alpha) {
  Vector& mine = vectors_[v];
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution(alpha, mine.p.data() + i, mine.x.data() + i, count);
  });
}

void BlockCg::note(const TeamThread& thread, int vector, State& state) {
  const StopCriterion& stop = stops_[static_cast<std::size_t>(vector)];
  SolveReport& report = state.report;
  StopRule(stop, state.first_norm).note(state.r, report);
  state.is_running =
      report.status == SolveStatus::not_converged && report.iterations < stop.max_iterations;
  if (thread.is_primary() && options_.on_iteration)
    options_.on_iteration(vector, report.iterations, report.recurrence_residual);
}

}  // namespace weft::solver
