#include "solver/krylov/predict_recompute_cg.h"

#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;

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
  const double inverse = preconditioner_norm();
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
  flush(sums_, thread, {&r_dot_r, &r_dot_u, &p_dot_s, &r_dot_t, &s_dot_t});
}

void PredictRecomputeCg::collective_pass(const TeamThread& thread, double alpha, double beta,
                                         double r_square, double p_norm, bool is_stale) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double p_square = p_norm * p_norm;
  if (general()) return collective_general_pass(thread, alpha, beta, r_square, p_square, is_stale);
  PredictRecomputeSums sums(r_square, p_square, norm_, preconditioner_norm());
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
  const double nu = is_identity() ? sums_.result(0) : sums_.result(1);
  Step step{.r_square = sums_.result(0), .r_dot_u = nu, .denominator = sums_.result(2)};
  step.alpha = nu / step.denominator;
  const double predicted =
      nu - 2 * step.alpha * sums_.result(3) + step.alpha * step.alpha * sums_.result(4);
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
