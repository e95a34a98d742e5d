#include "solver/krylov/preconditioned_predict_recompute_cg.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using spmv::BinnedSum;

PreconditionedPredictRecomputeCg::PreconditionedPredictRecomputeCg(spmv::LinearOperator& op,
                                                                   Options options)
    : ReducedCg(op, std::move(options)),
      inverse_(*this->options().inverse),
      norm_(op.collective_norm()),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 5),
      u_(collective_make_operand()),
      t_(collective_make_operand()) {
  for (Array* array : {&r_, &w_, &a_, &p_, &s_}) *array = make_array();
}

void PreconditionedPredictRecomputeCg::start(const TeamThread& thread, std::span<const double> b) {
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    std::copy_n(b.data() + i, count, r_.data() + i);
  });
  thread.barrier();
  inverse_.apply(thread, r_.data(), u_->values());
}

void PreconditionedPredictRecomputeCg::collective_begin_again(const TeamThread& thread,
                                                              std::span<const double> b) {
  double* const t = t_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(x_.data() + i, count, t + i); });
  op().apply(thread, options().mode, *t_, a_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i)
      r_[i] = b[i] - a_[i];
  });
  thread.barrier();
  inverse_.apply(thread, r_.data(), u_->values());
}

/// x += α p, r -= α s, u -= α t, then with the β that was predicted p = u + β p,
/// s = (w − α a) + β s, t = M·s, and the sums.
void PreconditionedPredictRecomputeCg::collective_pass(const TeamThread& thread, double alpha,
                                                       double beta, double r_square,
                                                       double p_norm) {
  double* const u = u_->values();
  double* const t = t_->values();
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i) {
      x_[i] += alpha * p_[i];
      r_[i] -= alpha * s_[i];
      u[i] -= alpha * t[i];
      p_[i] = u[i] + beta * p_[i];
      s_[i] = (w_[i] - alpha * a_[i]) + beta * s_[i];
    }
  });
  thread.barrier();
  inverse_.apply(thread, s_.data(), t);
  const double inverse = inverse_.norm();
  const double p_square = p_norm * p_norm;
  BinnedSum r_dot_r(r_square);
  BinnedSum r_dot_u(inverse * r_square);
  BinnedSum p_dot_s(norm_ * p_square);
  BinnedSum r_dot_t(norm_ * inverse * p_square);
  BinnedSum s_dot_t(norm_ * norm_ * inverse * p_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_square(r_.data() + i, count, r_dot_r);
    add_product(r_.data() + i, u + i, count, r_dot_u);
    add_product(p_.data() + i, s_.data() + i, count, p_dot_s);
    add_product(r_.data() + i, t + i, count, r_dot_t);
    add_product(s_.data() + i, t + i, count, s_dot_t);
  });
  int scalar = 0;
  for (BinnedSum* sum : {&r_dot_r, &r_dot_u, &p_dot_s, &r_dot_t, &s_dot_t})
    sum->flush(sums_.part(thread.index, scalar++));
  timer_.lap(thread.index, Phase::vector_update);
}

ReducedCg::Step PreconditionedPredictRecomputeCg::collective_next_step(const TeamThread& thread,
                                                                       const State& state) {
  if (!state.has_direction) {
    op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
    thread.barrier();
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      for (Array* array : {&p_, &s_, &a_}) std::fill_n(array->data() + i, count, 0.0);
      std::fill_n(t_->values() + i, count, 0.0);
    });
    collective_pass(thread, 0, 0, state.r_square, inverse_.norm() * std::sqrt(state.r_square));
  }
  sums_.collective_start(thread);
  op().apply(thread, options().mode, *t_, a_.data(), timer_, {});
  op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
  sums_.collective_finish(thread);
  timer_.lap(thread.index, Phase::reduction);
  const double nu = sums_.result(1);
  Step step{.r_square = sums_.result(0), .r_dot_u = nu, .denominator = sums_.result(2)};
  step.alpha = nu / step.denominator;
  const double predicted =
      nu - 2 * step.alpha * sums_.result(3) + step.alpha * step.alpha * sums_.result(4);
  step.beta = predicted > 0 ? predicted / nu : 0;
  return step;
}

void PreconditionedPredictRecomputeCg::collective_advance(const TeamThread& thread,
                                                          const State& state, const Step& step) {
  collective_pass(thread, step.alpha, step.beta, step.r_square,
                  inverse_.norm() * (state.p_norm + std::sqrt(step.r_square)));
}

}  // namespace weft::solver
