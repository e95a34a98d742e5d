#include "solver/krylov/conjugate_gradient.h"

#include <array>
#include <cmath>
#include <utility>

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;
using spmv::CloseSum;

ConjugateGradient::ConjugateGradient(spmv::LinearOperator& op, Options options)
    : TextbookCg(op, std::move(options)),
      norm_(op.collective_norm()),
      curvature_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      residual_(op.communicator(), op.comm_thread(), op.team().thread_count(), general() ? 3 : 2),
      p_(collective_make_operand()) {
  r_ = make_array();
  q_ = make_array();
}

bool ConjugateGradient::collective_take_new_values() {
  if (!general()) return false;
  norm_ = op().collective_norm();
  return true;
}

void ConjugateGradient::collective_begin(const TeamThread& thread, std::span<const double> b,
                                         const double* product) {
  subtract(thread, b, product, r_.data());
  fill_zero(thread, {p_->values(), q_.data()});
  thread.barrier();
}

/// The sums of a fused pass over all ranks.
TextbookCg::Norms ConjugateGradient::collective_norms(const TeamThread& thread,
                                                      ResidualSums& sums) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  sums.r_dot_r.flush(residual_.part(thread.index, 0));
  if (!is_identity()) sums.r_dot_z.flush(residual_.part(thread.index, 1));
  residual_.collective_reduce(thread);
  std::array<double, 2> values{residual_.result(0), residual_.result(1)};
  const double* const inverse = inverse_diagonal(0);
  fitted_.collective_fit(thread, values, [&](std::size_t sum, std::size_t i) {
    return r_[i] * (sum == sum_rr ? r_[i] : inverse[i] * r_[i]);
  });
  return {.r = std::sqrt(values[0]), .r_dot_z = is_identity() ? values[0] : values[1]};
}

/// The sums of a fused pass, for a residual whose square was `square`.
ResidualSums ConjugateGradient::next_sums(const TeamThread& thread, double square) {
  const double r_bound = fitted_.next<CloseSum>(thread, sum_rr, square);
  if (is_identity() || general()) return {r_bound, 0};
  return {r_bound, fitted_.next<CloseSum>(thread, sum_rz, preconditioner_norm() * square)};
}

/// ‖r‖ alone.
double ConjugateGradient::collective_residual_norm(const TeamThread& thread,
                                                   const CloseSum& r_dot_r) {
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  CloseSum sum = r_dot_r;
  sum.flush(extra_sum().part(thread.index));
  extra_sum().collective_reduce(thread);
  return std::sqrt(fitted_.collective_fit_one(thread, sum_rr, extra_sum().result(),
                                              [this](std::size_t i) { return r_[i] * r_[i]; }));
}

/// z = M·r for a general M, after all threads have written r, and r·z. `sums`: those of r;
/// `square_bound`: of r·r. Without z where ‖r‖ is below `looked_for`.
TextbookCg::Norms ConjugateGradient::collective_precondition(const TeamThread& thread,
                                                             ResidualSums& sums,
                                                             double square_bound,
                                                             double looked_for) {
  if (looked_for > 0) {
    const double norm = collective_residual_norm(thread, sums.r_dot_r);
    if (norm < looked_for) return {.r = norm};
  }
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    thread.barrier();
    general()->apply(thread, r_.data(), z());
    const double inverse = preconditioner_norm();
    const double q_estimate = needs_z_dot_q() ? norm_ * inverse * inverse * square_bound : 0;
    BinnedSum r_dot_z(fitted_.next<BinnedSum>(thread, sum_rz, inverse * square_bound));
    BinnedSum z_dot_q(fitted_.next<BinnedSum>(thread, sum_zq, q_estimate));
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_product(r_.data() + i, z() + i, count, r_dot_z);
      if (needs_z_dot_q()) add_product(z() + i, q_.data() + i, count, z_dot_q);
    });
    sums.r_dot_r.flush(residual_.part(thread.index, sum_rr));
    r_dot_z.flush(residual_.part(thread.index, sum_rz));
    z_dot_q.flush(residual_.part(thread.index, sum_zq));
  }
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  residual_.collective_reduce(thread);
  std::array<double, 3> values{residual_.result(0), residual_.result(1), residual_.result(2)};
  fitted_.collective_fit(thread, values, [&, z = z()](std::size_t sum, std::size_t i) {
    return sum == sum_zq ? z[i] * q_[i] : r_[i] * (sum == sum_rr ? r_[i] : z[i]);
  });
  return {.r = std::sqrt(values[0]), .r_dot_z = values[1], .z_dot_q = values[2]};
}

TextbookCg::Norms ConjugateGradient::collective_start(const TeamThread& thread, double bound) {
  ResidualSums sums = next_sums(thread, bound);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      start_residual(r_.data() + i, inverse_diagonal(i), r_.data() + i, count, sums);
    });
  }
  return general() ? collective_precondition(thread, sums, bound, 0)
                   : collective_norms(thread, sums);
}

double ConjugateGradient::collective_advance(const TeamThread& thread, const Step& last,
                                             const Norms& norms) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    double* const p = p_->values();
    const double* const z = general() ? this->z() : r_.data();
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      update_solution_and_direction(last.alpha, last.beta, z + i, inverse_diagonal(i),
                                    x_.data() + i, p + i, count);
    });
  }
  const double estimate = op().sums_without_bound() ? 0 : norm_ * norms.p * norms.p;
  op().apply(thread, options().mode, *p_, q_.data(), timer_,
             {&curvature_.part(thread.index), fitted_.next<CloseSum>(thread, sum_pq, estimate)});
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  curvature_.collective_reduce(thread);
  return fitted_.collective_fit_one(thread, sum_pq, curvature_.result(),
                                    [&, p = p_->values()](std::size_t i) { return p[i] * q_[i]; });
}

TextbookCg::Norms ConjugateGradient::collective_update_residual(const TeamThread& thread,
                                                                double alpha, const Norms& norms) {
  const double bound = norms.r * norms.r;
  ResidualSums sums = next_sums(thread, bound);
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      update_residual(alpha, q_.data() + i, inverse_diagonal(i), r_.data() + i, count, sums);
    });
  }
  return general() ? collective_precondition(thread, sums, bound, norms.looked_for)
                   : collective_norms(thread, sums);
}

void ConjugateGradient::finish(const TeamThread& thread, double alpha) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double* const p = p_->values();
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    update_solution(alpha, p + i, x_.data() + i, count);
  });
}

}  // namespace weft::solver
