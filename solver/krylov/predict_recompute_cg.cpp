#include "solver/krylov/predict_recompute_cg.h"

#include <array>
#include <cmath>
#include <utility>

#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;

PredictRecomputeCg::PredictRecomputeCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options), 5),  // r·r, r·u, p·s, r·t, s·t
      u_(collective_make_operand()),
      t_(collective_make_operand()) {
  for (Array* const array : {&w_, &a_, &p_}) *array = make_array();
  if (general())
    for (Array* const array : {&r_, &s_}) *array = make_array();
  const Factor r = of_any(r_, u_->values());
  const Factor s = of_any(s_, t_->values());
  const Factor u = as_stored(u_->values());
  const Factor t = as_stored(t_->values());
  set_products({{r, r, 0, 0},
                {r, u, 0, 1},
                {as_stored(p_.data()), s, 1, 0, true},
                {r, t, 1, 1, true},
                {s, t, 2, 1, true}});
}

void PredictRecomputeCg::collective_begin(const TeamThread& thread, const Solve& solve,
                                          const double* product) {
  double* const u = u_->values();
  double* const r = general() ? r_.data() : u;
  subtract(thread, solve.b, product, r);
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
  add_products(thread, 5, r_square, p_square);
}

void PredictRecomputeCg::collective_pass(const TeamThread& thread, double alpha, double beta,
                                         double r_square, double p_norm, bool is_stale) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double p_square = p_norm * p_norm;
  if (general()) return collective_general_pass(thread, alpha, beta, r_square, p_square, is_stale);
  std::array<CloseSum, 5> sums = next_sums<5>(thread, r_square, p_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    predict_recompute_pass(alpha, beta,
                           {u_->values() + i, w_.data() + i, p_.data() + i, t_->values() + i,
                            a_.data() + i, x_.data() + i},
                           diagonal(i), inverse_diagonal(i), count, sums);
  });
  flush(thread, sums);
}

void PredictRecomputeCg::collective_multiply_both(const TeamThread& thread) {
  collective_multiply(thread, *t_, a_.data());
  collective_multiply(thread, *u_, w_.data());
}

void PredictRecomputeCg::collective_complete(const TeamThread& thread) {
  collective_multiply_both(thread);
  thread.barrier();
}

/// Source: Chen and Carson 2020, algorithm 6: ν' = ν − 2αδ + α²γ.
ReducedCg::Step PredictRecomputeCg::collective_next_step(const TeamThread& thread,
                                                         const State& state) {
  if (!state.has_direction) {
    collective_multiply(thread, *u_, w_.data());
    thread.barrier();
    fill_zero(thread, {p_.data(), t_->values(), a_.data()});
    if (general()) fill_zero(thread, {s_.data()});
    collective_pass(thread, 0, 0, state.r_square, preconditioner_norm() * std::sqrt(state.r_square),
                    false);
  }
  sums_.collective_start(thread);
  collective_multiply_both(thread);
  {
    const PhaseScope scope(timer_, thread.index, Phase::reduction);
    sums_.collective_finish(thread);
  }
  const auto values = collective_fit(thread);
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
