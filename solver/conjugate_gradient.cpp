#include "solver/conjugate_gradient.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "solver/inverse_diagonal.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;

ConjugateGradient::ConjugateGradient(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      norm_(op.collective_norm()),
      curvature_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      residual_(op.communicator(), op.comm_thread(), op.team().thread_count(), 2),
      p_(collective_make_operand()) {
  r_ = make_array();
  q_ = make_array();
  if (this->options().preconditioner == Preconditioner::jacobi) {
    inverse_diagonal_ = collective_invert_diagonal(op, 1, "pcg-jacobi");
    inverse_norm_ = collective_largest(op, inverse_diagonal_.span());
  }
}

/// The sums of all, cleared here.
ConjugateGradient::Norms ConjugateGradient::collective_norms(const TeamThread& thread,
                                                             const ResidualSums& sums) {
  ResidualSums own = sums;
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  own.r_dot_r.flush(residual_.part(thread.index, 0));
  if (inverse_diagonal_.data()) own.r_dot_z.flush(residual_.part(thread.index, 1));
  residual_.collective_reduce(thread);
  const double square = residual_.result(0);
  return {std::sqrt(square), inverse_diagonal_.data() ? residual_.result(1) : square};
}

ConjugateGradient::Norms ConjugateGradient::collective_start(const TeamThread& thread,
                                                             std::span<const double> b,
                                                             double bound) {
  ResidualSums sums(bound, inverse_norm_ * bound);
  double* const p = p_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    start_residual(b.data() + i, inverse_diagonal(i), r_.data() + i, count, sums);
    start_direction(r_.data() + i, inverse_diagonal(i), p + i, count);
  });
  Norms norms = collective_norms(thread, sums);
  norms.p_bound = inverse_norm_ * norms.r;
  return norms;
}

double ConjugateGradient::collective_product(const TeamThread& thread, const Norms& norms) {
  op().apply(thread, options().mode, *p_, q_.data(), timer_,
             {&curvature_.part(thread.index), norm_ * norms.p_bound * norms.p_bound});
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  curvature_.collective_reduce(thread);
  return curvature_.result();
}

ConjugateGradient::Norms ConjugateGradient::collective_update_residual(const TeamThread& thread,
                                                                       double alpha,
                                                                       const Norms& norms) {
  const double bound = norms.r * norms.r;
  ResidualSums sums(bound, inverse_norm_ * bound);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      update_residual(alpha, q_.data() + i, inverse_diagonal(i), r_.data() + i, count, sums);
    });
  }
  return collective_norms(thread, sums);
}

void ConjugateGradient::advance(const TeamThread& thread, double alpha, double beta) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  double* const p = p_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution_and_direction(alpha, beta, r_.data() + i, inverse_diagonal(i), x_.data() + i,
                                  p + i, count);
  });
}

/// Every thread computes the same `report`.
SolveReport ConjugateGradient::solve_in_team(const TeamThread& thread, std::span<const double> b) {
  const double bound = collective_bound_square(thread, b);
  Norms norms = collective_start(thread, b, bound);
  const double first_norm = norms.r;
  timer_.start(thread.index);
  SolveReport report = start_report(first_norm * first_norm, bound);
  while (report.status == SolveStatus::not_converged &&
         report.iterations < options().stop.max_iterations) {
    const double curvature = collective_product(thread, norms);
    if (!(curvature > 0)) {
      report.status = SolveStatus::breakdown;
      report.explanation = fmt::format(
          "p·A·p = {:.3g} is not positive: the matrix is not positive definite, or nothing but "
          "rounding is left to iterate on",
          curvature);
      break;
    }
    const double alpha = norms.r_dot_z / curvature;
    Norms next = collective_update_residual(thread, alpha, norms);
    const double beta = next.r_dot_z / norms.r_dot_z;
    next.p_bound = inverse_norm_ * next.r + std::abs(beta) * norms.p_bound;
    advance(thread, alpha, beta);
    norms = next;
    ++report.iterations;
    note(thread, norms.r, first_norm, report);
  }
  return report;
}

}  // namespace weft::solver
