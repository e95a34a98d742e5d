#include "solver/krylov/predict_recompute_cg.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;

PredictRecomputeCg::PredictRecomputeCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options)),
      scaling_(op, this->options().preconditioner, "cg-pipelined-pr with --preconditioner jacobi"),
      norm_(op.collective_norm()),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 5),
      u_(collective_make_operand()),
      t_(collective_make_operand()) {
  w_ = make_array();
  a_ = make_array();
  p_ = make_array();
}

void PredictRecomputeCg::start(const TeamThread& thread, std::span<const double> b) {
  double* const u = u_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    start_u(b.data() + i, nullptr, scaling_.inverse(i), u + i, count);
  });
  thread.barrier();
}

void PredictRecomputeCg::collective_begin_again(const TeamThread& thread,
                                                std::span<const double> b) {
  double* const t = t_->values();
  double* const u = u_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(x_.data() + i, count, t + i); });
  op().apply(thread, options().mode, *t_, a_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    start_u(b.data() + i, a_.data() + i, scaling_.inverse(i), u + i, count);
  });
  thread.barrier();
}

/// p = u, t = D⁻¹·A·u, and the sums.
void PredictRecomputeCg::collective_begin(const TeamThread& thread, double r_square) {
  op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(p_.data() + i, count, 0.0);
    std::fill_n(t_->values() + i, count, 0.0);
    std::fill_n(a_.data() + i, count, 0.0);
  });
  pass(thread, 0, 0, r_square, scaling_.inverse_norm() * std::sqrt(r_square));
}

void PredictRecomputeCg::pass(const TeamThread& thread, double alpha, double beta, double r_square,
                              double p_norm) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  PredictRecomputeSums sums(r_square, p_norm * p_norm, norm_, scaling_.inverse_norm());
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    predict_recompute_pass(alpha, beta,
                           {u_->values() + i, w_.data() + i, p_.data() + i, t_->values() + i,
                            a_.data() + i, x_.data() + i},
                           scaling_.diagonal(i), scaling_.inverse(i), count, sums);
  });
  int scalar = 0;
  for (spmv::CloseSum* sum :
       {&sums.r_dot_r, &sums.r_dot_u, &sums.p_dot_s, &sums.r_dot_t, &sums.s_dot_t})
    sum->flush(sums_.part(thread.index, scalar++));
}

/// Source: Chen and Carson 2020, algorithm 6: ν' = ν − 2αδ + α²γ.
ReducedCg::Step PredictRecomputeCg::collective_next_step(const TeamThread& thread,
                                                         const State& state) {
  if (!state.has_direction) collective_begin(thread, state.r_square);
  sums_.collective_start(thread);
  op().apply(thread, options().mode, *t_, a_.data(), timer_, {});
  op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    sums_.collective_finish(thread);
  }
  const double nu = scaling_.is_one() ? sums_.result(0) : sums_.result(1);
  Step step{.r_square = sums_.result(0), .r_dot_u = nu, .denominator = sums_.result(2)};
  step.alpha = nu / step.denominator;
  const double predicted =
      nu - 2 * step.alpha * sums_.result(3) + step.alpha * step.alpha * sums_.result(4);
  step.beta = predicted > 0 ? predicted / nu : 0;
  return step;
}

void PredictRecomputeCg::collective_advance(const TeamThread& thread, const State& state,
                                            const Step& step) {
  pass(thread, step.alpha, step.beta, step.r_square,
       scaling_.inverse_norm() * (state.p_norm + std::sqrt(step.r_square)));
}

}  // namespace weft::solver
