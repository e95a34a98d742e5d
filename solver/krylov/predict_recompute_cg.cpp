#include "solver/krylov/predict_recompute_cg.h"

#include <array>
#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;
using spmv::CloseSum;

PredictRecomputeCg::PredictRecomputeCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options), 5),  // r·r, r·u, p·s, r·t, s·t
      u_(collective_make_operand()),
      t_(collective_make_operand()) {
  for (Array* const array : {&w_, &a_, &p_}) *array = make_array();
  if (general())
    for (Array* const array : {&r_, &s_}) *array = make_array();
}

void PredictRecomputeCg::collective_begin(const TeamThread& thread, std::span<const double> b,
                                          const double* product) {
  double* const u = u_->values();
  double* const r = general() ? r_.data() : u;
  subtract(thread, b, product, r);
  scale(thread, u);
  thread.barrier();
  if (general()) general()->apply(thread, r, u);
}

/// Bounds of r·r, which was `r_square`, r·u, p·s, r·t and s·t.
template <class Sum>
std::array<double, 5> PredictRecomputeCg::next_bounds(const TeamThread& thread, double r_square,
                                                      double p_square) {
  const double inverse = preconditioner_norm();
  return {fitted_.next<Sum>(thread, 0, r_square),
          fitted_.next<Sum>(thread, 1, is_identity() ? 0 : inverse * r_square),
          fitted_.next<Sum>(thread, 2, norm_ * p_square),
          fitted_.next<Sum>(thread, 3, norm_ * inverse * p_square),
          fitted_.next<Sum>(thread, 4, norm_ * norm_ * inverse * p_square)};
}

/// What element `i` adds to a sum of that order.
double PredictRecomputeCg::term(std::size_t sum, std::size_t i) const {
  const double* const d = diagonal(0);
  const double u = u_->values()[i];
  const double t = t_->values()[i];
  const double r = general() ? r_[i] : d ? d[i] * u : u;
  const double s = general() ? s_[i] : d ? d[i] * t : t;
  switch (sum) {
    case 0:
      return r * r;
    case 1:
      return r * u;
    case 2:
      return p_[i] * s;
    case 3:
      return r * t;
    default:
      return s * t;
  }
}

/// x += α p, r -= α s, u -= α t, then with the β that was predicted p = u + β p,
/// s = (w − α a) + β s, t = M·s, and the sums. `is_stale`: u becomes M·r.
void PredictRecomputeCg::collective_general_pass(const TeamThread& thread, double alpha,
                                                 double beta, double r_square, double p_square,
                                                 bool is_stale) {
  double* const u = u_->values();
  double* const t = t_->values();
  for_each_element(thread, [&](std::size_t i) {
    x_[i] += alpha * p_[i];
    r_[i] -= alpha * s_[i];
    u[i] -= alpha * t[i];
    s_[i] = (w_[i] - alpha * a_[i]) + beta * s_[i];
    if (!is_stale) p_[i] = u[i] + beta * p_[i];
  });
  thread.barrier();
  if (is_stale) {
    general()->apply(thread, r_.data(), u);
    thread.barrier();
    for_each_element(thread, [&](std::size_t i) { p_[i] = u[i] + beta * p_[i]; });
  }
  general()->apply(thread, s_.data(), t);
  const std::array<double, 5> bounds = next_bounds<BinnedSum>(thread, r_square, p_square);
  BinnedSum r_dot_r(bounds[0]);
  BinnedSum r_dot_u(bounds[1]);
  BinnedSum p_dot_s(bounds[2]);
  BinnedSum r_dot_t(bounds[3]);
  BinnedSum s_dot_t(bounds[4]);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_square(r_.data() + i, count, r_dot_r);
    add_product(r_.data() + i, u + i, count, r_dot_u);
    add_product(p_.data() + i, s_.data() + i, count, p_dot_s);
    add_product(r_.data() + i, t + i, count, r_dot_t);
    add_product(s_.data() + i, t + i, count, s_dot_t);
  });
  flush(sums_, thread, {&r_dot_r, &r_dot_u, &p_dot_s, &r_dot_t, &s_dot_t});
}

void PredictRecomputeCg::collective_pass(const TeamThread& thread, double alpha, double beta,
                                         double r_square, double p_norm, bool is_stale) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double p_square = p_norm * p_norm;
  if (general()) return collective_general_pass(thread, alpha, beta, r_square, p_square, is_stale);
  PredictRecomputeSums sums(next_bounds<CloseSum>(thread, r_square, p_square));
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    predict_recompute_pass(alpha, beta,
                           {u_->values() + i, w_.data() + i, p_.data() + i, t_->values() + i,
                            a_.data() + i, x_.data() + i},
                           diagonal(i), inverse_diagonal(i), count, sums);
  });
  flush(sums_, thread, {&sums.r_dot_r, &sums.r_dot_u, &sums.p_dot_s, &sums.r_dot_t, &sums.s_dot_t});
}

/// Source: Chen and Carson 2020, algorithm 6: ν' = ν − 2αδ + α²γ.
void PredictRecomputeCg::collective_carry_all(const TeamThread& thread, Carry direction,
                                              double& first_norm, SolveReport& report,
                                              std::initializer_list<double*> scalars) {
  collective_carry(thread, direction, first_norm, report, scalars,
                   {x_.data(), u_->values(), t_->values(), p_.data(), r_.data(), s_.data()});
  if (direction == Carry::restore) {
    op().apply(thread, options().mode, *t_, a_.data(), timer_, {});
    op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
    thread.barrier();
  }
}

ReducedCg::Step PredictRecomputeCg::collective_next_step(const TeamThread& thread,
                                                         const State& state) {
  if (!state.has_direction) {
    op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
    thread.barrier();
    fill_zero(thread, {p_.data(), t_->values(), a_.data()});
    if (general()) fill_zero(thread, {s_.data()});
    collective_pass(thread, 0, 0, state.r_square, preconditioner_norm() * std::sqrt(state.r_square),
                    false);
  }
  sums_.collective_start(thread);
  op().apply(thread, options().mode, *t_, a_.data(), timer_, {});
  op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    sums_.collective_finish(thread);
  }
  std::array<double, 5> values;
  for (int sum = 0; sum < 5; ++sum) values[static_cast<std::size_t>(sum)] = sums_.result(sum);
  fitted_.collective_fit(thread, values,
                         [this](std::size_t sum, std::size_t i) { return term(sum, i); });
  const double nu = is_identity() ? values[0] : values[1];
  Step step{.r_square = values[0], .r_dot_u = nu, .denominator = values[2]};
  step.alpha = nu / step.denominator;
  const double predicted = nu - 2 * step.alpha * values[3] + step.alpha * step.alpha * values[4];
  step.beta = predicted > 0 ? predicted / nu : 0;
  return step;
}

void PredictRecomputeCg::collective_advance(const TeamThread& thread, const State& state,
                                            const Step& step) {
  collective_pass(thread, step.alpha, step.beta, step.r_square,
                  preconditioner_norm() * (state.p_norm + std::sqrt(step.r_square)),
                  state.is_stale(step.r_square));
}

}  // namespace weft::solver
