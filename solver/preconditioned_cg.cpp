#include "solver/preconditioned_cg.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "solver/fused_vector_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using spmv::BinnedSum;

PreconditionedCg::PreconditionedCg(spmv::LinearOperator& op, Options options, bool is_flexible)
    : KrylovMethod(op, std::move(options)),
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
PreconditionedCg::Norms PreconditionedCg::collective_precondition(const TeamThread& thread,
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
  return {std::sqrt(sums_.result(0)), sums_.result(1), sums_.result(2)};
}

/// Every thread computes the same `report`.
SolveReport PreconditionedCg::solve_in_team(const TeamThread& thread, std::span<const double> b) {
  const double bound = collective_bound_square(thread, b);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    std::fill_n(q_.data() + i, count, 0.0);
    std::copy_n(b.data() + i, count, r_.data() + i);
  });
  timer_.start(thread.index);
  Norms norms = collective_precondition(thread, bound);
  norms.p_bound = options().inverse->norm() * norms.r;
  const double first_norm = norms.r;
  double* const p = p_->values();
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(z_.data() + i, count, p + i); });
  SolveReport report = start_report(first_norm * first_norm, bound);
  while (report.status == SolveStatus::not_converged &&
         report.iterations < options().stop.max_iterations) {
    op().apply(thread, options().mode, *p_, q_.data(), timer_,
               {&curvature_.part(thread.index), norm_ * norms.p_bound * norms.p_bound});
    curvature_.collective_reduce(thread);
    timer_.lap(thread.index, Phase::reduction);
    const double curvature = curvature_.result();
    if (!(curvature > 0)) {
      report.status = SolveStatus::breakdown;
      report.explanation = fmt::format(
          "p·A·p = {:.3g} is not positive: the matrix is not positive definite, or nothing but "
          "rounding is left to iterate on",
          curvature);
      break;
    }
    const double alpha = norms.r_dot_z / curvature;
    for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
      for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i) {
        x_[i] += alpha * p[i];
        r_[i] -= alpha * q_[i];
      }
    });
    Norms next = collective_precondition(thread, norms.r * norms.r);
    const double beta = (is_flexible_ ? -alpha * next.z_dot_q : next.r_dot_z) / norms.r_dot_z;
    next.p_bound = options().inverse->norm() * next.r + std::abs(beta) * norms.p_bound;
    for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
      for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i)
        p[i] = z_[i] + beta * p[i];
    });
    timer_.lap(thread.index, Phase::vector_update);
    norms = next;
    ++report.iterations;
    note(thread, norms.r, first_norm, report);
  }
  return report;
}

}  // namespace weft::solver
