#include "solver/krylov/one_reduction_cg.h"

#include <algorithm>
#include <utility>

#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;

OneReductionCg::OneReductionCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options)),
      scaling_(op, this->options().preconditioner, "cg-one-reduction with --preconditioner jacobi"),
      norm_(op.collective_norm()),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 3),
      u_(collective_make_operand()) {
  w_ = make_array();
  p_ = make_array();
  s_ = make_array();
}

void OneReductionCg::start(const TeamThread& thread, std::span<const double> b) {
  double* const u = u_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    std::fill_n(p_.data() + i, count, 0.0);
    std::fill_n(s_.data() + i, count, 0.0);
    start_u(b.data() + i, nullptr, scaling_.inverse(i), u + i, count);
  });
  thread.barrier();
}

void OneReductionCg::collective_begin_again(const TeamThread& thread, std::span<const double> b) {
  double* const u = u_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(x_.data() + i, count, u + i); });
  op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    start_u(b.data() + i, w_.data() + i, scaling_.inverse(i), u + i, count);
  });
  thread.barrier();
}

ReducedCg::Step OneReductionCg::collective_next_step(const TeamThread& thread, const State& state) {
  const double inverse = scaling_.inverse_norm();
  if (!state.has_direction) {  // the sums come with the pass otherwise
    CloseSum r_dot_r(state.r_square);
    CloseSum r_dot_u(inverse * state.r_square);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_squares_of_u(u_->values() + i, scaling_.diagonal(i), count, r_dot_r, r_dot_u);
    });
    r_dot_r.flush(sums_.part(thread.index, 0));
    r_dot_u.flush(sums_.part(thread.index, 1));
  }
  op().apply(thread, options().mode, *u_, w_.data(), timer_,
             {&sums_.part(thread.index, 2), norm_ * inverse * inverse * state.r_square});
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    sums_.collective_reduce(thread);
  }
  const double r_dot_u = scaling_.is_one() ? sums_.result(0) : sums_.result(1);
  return step_from(state, sums_.result(0), r_dot_u, sums_.result(2));
}

void OneReductionCg::collective_advance(const TeamThread& thread, const State& state,
                                        const Step& step) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  CloseSum r_dot_r(step.r_square);
  CloseSum r_dot_u(scaling_.inverse_norm() * step.r_square);
  const double beta = state.has_direction ? step.beta : 0;
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    chronopoulos_gear_pass(
        step.alpha, beta,
        {u_->values() + i, w_.data() + i, p_.data() + i, s_.data() + i, x_.data() + i},
        scaling_.diagonal(i), scaling_.inverse(i), count, r_dot_r, r_dot_u);
  });
  r_dot_r.flush(sums_.part(thread.index, 0));
  r_dot_u.flush(sums_.part(thread.index, 1));
}

}  // namespace weft::solver
