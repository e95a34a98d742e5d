#include "solver/krylov/conjugate_gradient.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/krylov/inverse_diagonal.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;

ConjugateGradient::ConjugateGradient(spmv::LinearOperator& op, Options options)
    : TextbookCg(op, std::move(options)),
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
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      std::fill_n(x_.data() + i, count, 0.0);
      std::fill_n(p + i, count, 0.0);
      start_residual(b.data() + i, inverse_diagonal(i), r_.data() + i, count, sums);
    });
  }
  return collective_norms(thread, sums);
}

double ConjugateGradient::collective_advance(const TeamThread& thread, const Step& last,
                                             const Norms& norms) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    double* const p = p_->values();
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      update_solution_and_direction(last.alpha, last.beta, r_.data() + i, inverse_diagonal(i),
                                    x_.data() + i, p + i, count);
    });
  }
  op().apply(thread, options().mode, *p_, q_.data(), timer_,
             {&curvature_.part(thread.index), norm_ * norms.p * norms.p});
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

void ConjugateGradient::finish(const TeamThread& thread, double alpha) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double* const p = p_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution(alpha, p + i, x_.data() + i, count);
  });
}

}  // namespace weft::solver
