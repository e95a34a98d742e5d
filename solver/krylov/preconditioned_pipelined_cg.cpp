#include "solver/krylov/preconditioned_pipelined_cg.h"

#include <algorithm>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using spmv::BinnedSum;

PreconditionedPipelinedCg::PreconditionedPipelinedCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options)),
      inverse_(*this->options().inverse),
      norm_(op.collective_norm()),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 3),
      m_(collective_make_operand()) {
  for (Array* array : {&r_, &u_, &w_, &n_, &p_, &q_, &s_, &z_}) *array = make_array();
}

void PreconditionedPipelinedCg::start(const TeamThread& thread, std::span<const double> b) {
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    for (Array* array : {&x_, &p_, &q_, &s_, &z_}) std::fill_n(array->data() + i, count, 0.0);
    std::copy_n(b.data() + i, count, r_.data() + i);
  });
  collective_begin(thread);
}

void PreconditionedPipelinedCg::collective_begin_again(const TeamThread& thread,
                                                       std::span<const double> b) {
  double* const m = m_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(x_.data() + i, count, m + i); });
  op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i)
      r_[i] = b[i] - n_[i];
  });
  collective_begin(thread);
}

/// u = M·r and w = A·u. Ends with a barrier.
void PreconditionedPipelinedCg::collective_begin(const TeamThread& thread) {
  thread.barrier();
  inverse_.apply(thread, r_.data(), u_.data());
  double* const m = m_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(u_.data() + i, count, m + i); });
  op().apply(thread, options().mode, *m_, w_.data(), timer_, {});
  thread.barrier();
}

ReducedCg::Step PreconditionedPipelinedCg::collective_next_step(const TeamThread& thread,
                                                                const State& state) {
  const double inverse = inverse_.norm();
  BinnedSum r_dot_r(state.r_square);
  BinnedSum r_dot_u(inverse * state.r_square);
  BinnedSum w_dot_u(norm_ * inverse * inverse * state.r_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_square(r_.data() + i, count, r_dot_r);
    add_product(r_.data() + i, u_.data() + i, count, r_dot_u);
    add_product(w_.data() + i, u_.data() + i, count, w_dot_u);
  });
  r_dot_r.flush(sums_.part(thread.index, 0));
  r_dot_u.flush(sums_.part(thread.index, 1));
  w_dot_u.flush(sums_.part(thread.index, 2));
  sums_.collective_start(thread);
  inverse_.apply(thread, w_.data(), m_->values());
  timer_.lap(thread.index, Phase::vector_update);
  op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
  sums_.collective_finish(thread);
  timer_.lap(thread.index, Phase::reduction);
  return step_from(state, sums_.result(0), sums_.result(1), sums_.result(2));
}

void PreconditionedPipelinedCg::collective_advance(const TeamThread& thread, const State& state,
                                                   const Step& step) {
  const double beta = state.has_direction ? step.beta : 0;
  const double alpha = step.alpha;
  const double* const m = m_->values();
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i) {
      z_[i] = n_[i] + beta * z_[i];
      q_[i] = m[i] + beta * q_[i];
      s_[i] = w_[i] + beta * s_[i];
      p_[i] = u_[i] + beta * p_[i];
      x_[i] += alpha * p_[i];
      r_[i] -= alpha * s_[i];
      u_[i] -= alpha * q_[i];
      w_[i] -= alpha * z_[i];
    }
  });
  thread.barrier();
  timer_.lap(thread.index, Phase::vector_update);
}

}  // namespace weft::solver
