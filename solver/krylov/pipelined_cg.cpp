#include "solver/krylov/pipelined_cg.h"

#include <algorithm>
#include <utility>

#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;

PipelinedCg::PipelinedCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options)),
      scaling_(op, this->options().preconditioner, "cg-pipelined with --preconditioner jacobi"),
      norm_(op.collective_norm()),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 3),
      m_(collective_make_operand()) {
  u_ = make_array();
  if (!scaling_.is_one()) w_ = make_array();
  n_ = make_array();
  p_ = make_array();
  s_ = make_array();
  z_ = make_array();
}

void PipelinedCg::start(const TeamThread& thread, std::span<const double> b) {
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    for (Array* array : {&x_, &p_, &s_, &z_}) std::fill_n(array->data() + i, count, 0.0);
    start_u(b.data() + i, nullptr, scaling_.inverse(i), u_.data() + i, count);
  });
  collective_begin(thread);
}

void PipelinedCg::collective_begin_again(const TeamThread& thread, std::span<const double> b) {
  double* const m = m_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(x_.data() + i, count, m + i); });
  op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    start_u(b.data() + i, n_.data() + i, scaling_.inverse(i), u_.data() + i, count);
  });
  collective_begin(thread);
}

/// w = A·u and m = D⁻¹·w. Ends with a barrier.
void PipelinedCg::collective_begin(const TeamThread& thread) {
  double* const m = m_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(u_.data() + i, count, m + i); });
  op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::copy_n(n_.data() + i, count, w() + i);
    start_u(n_.data() + i, nullptr, scaling_.inverse(i), m + i, count);
  });
  thread.barrier();
}

ReducedCg::Step PipelinedCg::collective_next_step(const TeamThread& thread, const State& state) {
  if (!state.has_direction) {  // the sums come with the pass otherwise
    const double inverse = scaling_.inverse_norm();
    CloseSum r_dot_r(state.r_square);
    CloseSum r_dot_u(inverse * state.r_square);
    CloseSum w_dot_u(norm_ * inverse * inverse * state.r_square);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_squares_of_u(u_.data() + i, scaling_.diagonal(i), count, r_dot_r, r_dot_u);
      add_product(w() + i, u_.data() + i, count, w_dot_u);
    });
    r_dot_r.flush(sums_.part(thread.index, 0));
    r_dot_u.flush(sums_.part(thread.index, 1));
    w_dot_u.flush(sums_.part(thread.index, 2));
  }
  sums_.collective_start(thread);
  op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    sums_.collective_finish(thread);
  }
  const double r_dot_u = scaling_.is_one() ? sums_.result(0) : sums_.result(1);
  return step_from(state, sums_.result(0), r_dot_u, sums_.result(2));
}

void PipelinedCg::collective_advance(const TeamThread& thread, const State& state,
                                     const Step& step) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double inverse = scaling_.inverse_norm();
  CloseSum r_dot_r(step.r_square);
  CloseSum r_dot_u(inverse * step.r_square);
  CloseSum w_dot_u(norm_ * inverse * inverse * step.r_square);
  const double beta = state.has_direction ? step.beta : 0;
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    ghysels_vanroose_pass(step.alpha, beta,
                          {u_.data() + i, w() + i, m_->values() + i, n_.data() + i, p_.data() + i,
                           s_.data() + i, z_.data() + i, x_.data() + i},
                          scaling_.diagonal(i), scaling_.inverse(i), count, r_dot_r, r_dot_u,
                          w_dot_u);
  });
  r_dot_r.flush(sums_.part(thread.index, 0));
  r_dot_u.flush(sums_.part(thread.index, 1));
  w_dot_u.flush(sums_.part(thread.index, 2));
}

}  // namespace weft::solver
