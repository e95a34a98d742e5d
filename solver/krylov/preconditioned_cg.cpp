#include "solver/krylov/preconditioned_cg.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using spmv::BinnedSum;

PreconditionedCg::PreconditionedCg(spmv::LinearOperator& op, Options options, bool is_flexible)
    : TextbookCg(op, std::move(options)),
      is_flexible_(is_flexible),
      norm_(op.collective_norm()),
      curvature_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(), 3),
      p_(collective_make_operand()) {
  r_ = make_array();
  q_ = make_array();
  z_ = make_array();
}

/// z = M·r, after all have written r, and its sums. `square_bound`: of r·r.
TextbookCg::Norms PreconditionedCg::collective_precondition(const TeamThread& thread,
                                                            double square_bound) {
  thread.barrier();
  options().inverse->apply(thread, r_.data(), z_.data());
  const double inverse = options().inverse->norm();
  BinnedSum r_dot_r(square_bound);
  BinnedSum r_dot_z(inverse * square_bound);
  BinnedSum z_dot_q(norm_ * inverse * inverse * square_bound);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_square(r_.data() + i, count, r_dot_r);
    add_product(r_.data() + i, z_.data() + i, count, r_dot_z);
    if (is_flexible_) add_product(z_.data() + i, q_.data() + i, count, z_dot_q);
  });
  r_dot_r.flush(sums_.part(thread.index, 0));
  r_dot_z.flush(sums_.part(thread.index, 1));
  z_dot_q.flush(sums_.part(thread.index, 2));
  timer_.lap(thread.index, Phase::vector_update);
  sums_.collective_reduce(thread);
  timer_.lap(thread.index, Phase::reduction);
  return {.r = std::sqrt(sums_.result(0)), .r_dot_z = sums_.result(1), .z_dot_q = sums_.result(2)};
}

TextbookCg::Norms PreconditionedCg::collective_start(const TeamThread& thread,
                                                     std::span<const double> b, double bound) {
  double* const p = p_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    std::fill_n(p + i, count, 0.0);
    std::fill_n(q_.data() + i, count, 0.0);
    std::copy_n(b.data() + i, count, r_.data() + i);
  });
  return collective_precondition(thread, bound);
}

double PreconditionedCg::collective_advance(const TeamThread& thread, const Step& last,
                                            const Norms& norms) {
  double* const p = p_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution_and_direction(last.alpha, last.beta, z_.data() + i, nullptr, x_.data() + i,
                                  p + i, count);
  });
  timer_.lap(thread.index, Phase::vector_update);
  op().apply(thread, options().mode, *p_, q_.data(), timer_,
             {&curvature_.part(thread.index), norm_ * norms.p * norms.p});
  curvature_.collective_reduce(thread);
  timer_.lap(thread.index, Phase::reduction);
  return curvature_.result();
}

TextbookCg::Norms PreconditionedCg::collective_update_residual(const TeamThread& thread,
                                                               double alpha, const Norms& norms) {
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution(-alpha, q_.data() + i, r_.data() + i, count);
  });
  return collective_precondition(thread, norms.r * norms.r);
}

void PreconditionedCg::finish(const TeamThread& thread, double alpha) {
  const double* const p = p_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution(alpha, p + i, x_.data() + i, count);
  });
}

}  // namespace weft::solver
