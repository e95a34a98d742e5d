#include "solver/krylov/pipelined_cg.h"

#include <array>
#include <utility>

#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;

PipelinedCg::PipelinedCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options), 3),  // r·r, r·u, w·u
      m_(collective_make_operand()) {
  for (Array* const array : {&u_, &n_, &p_, &s_, &z_}) *array = make_array();
  if (!is_identity()) w_ = make_array();
  if (general())
    for (Array* const array : {&r_, &q_}) *array = make_array();
  const Factor r = of_any(r_, u_.data());
  const Factor u = as_stored(u_.data());
  set_products({{r, r, 0, 0}, {r, u, 0, 1}, {as_stored(w()), u, 1, 2}});
}

/// u = M·(b − product), w = A·u and, of a preconditioner that is not general, m = M·w.
void PipelinedCg::collective_begin(const TeamThread& thread, const Solve& solve,
                                   const double* product) {
  double* const m = m_->values();
  double* const r = general() ? r_.data() : u_.data();
  fill_zero(thread, {p_.data(), s_.data(), z_.data()});
  subtract(thread, solve.b, product, r);
  if (general()) {
    fill_zero(thread, {q_.data()});
    thread.barrier();
    general()->apply(thread, r, u_.data());
  }
  scale(thread, u_.data());
  copy(thread, u_.data(), m);
  collective_multiply(thread, *m_, n_.data());
  thread.barrier();
  copy(thread, n_.data(), w());
  if (!general()) {
    copy(thread, n_.data(), m);
    scale(thread, m);
  }
  thread.barrier();
}

void PipelinedCg::collective_complete(const TeamThread& thread) {
  collective_multiply(thread, *m_, n_.data());
  thread.barrier();
}

ReducedCg::Step PipelinedCg::collective_next_step(const TeamThread& thread, const State& state) {
  if (general() || !state.has_direction) {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    add_products(thread, 3, state.r_square);
  }
  sums_.collective_start(thread);
  if (general()) {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    general()->apply(thread, w_.data(), m_->values());
  }
  collective_multiply(thread, *m_, n_.data());
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  sums_.collective_finish(thread);
  const auto values = collective_fit(thread);
  return step_from(state, values[0], is_identity() ? values[0] : values[1], values[2]);
}

void PipelinedCg::collective_advance(const TeamThread& thread, const State& state,
                                     const Step& step) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double beta = state.has_direction ? step.beta : 0;
  if (general()) {
    const double* const m = m_->values();
    for_each_element(thread, [&, alpha = step.alpha](std::size_t i) {
      z_[i] = n_[i] + beta * z_[i];
      q_[i] = m[i] + beta * q_[i];
      s_[i] = w_[i] + beta * s_[i];
      p_[i] = u_[i] + beta * p_[i];
      x_[i] += alpha * p_[i];
      r_[i] -= alpha * s_[i];
      u_[i] -= alpha * q_[i];
      w_[i] -= alpha * z_[i];
    });
    return thread.barrier();
  }
  std::array<CloseSum, 3> sums = next_sums<3>(thread, step.r_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    ghysels_vanroose_pass(step.alpha, beta,
                          {u_.data() + i, w() + i, m_->values() + i, n_.data() + i, p_.data() + i,
                           s_.data() + i, z_.data() + i, x_.data() + i},
                          diagonal(i), inverse_diagonal(i), count, sums);
  });
  flush(thread, sums);
}

}  // namespace weft::solver
