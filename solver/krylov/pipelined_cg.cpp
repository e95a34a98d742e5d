#include "solver/krylov/pipelined_cg.h"

#include <array>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;
using spmv::CloseSum;

PipelinedCg::PipelinedCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options), 3),  // r·r, r·u, w·u
      m_(collective_make_operand()) {
  for (Array* const array : {&u_, &n_, &p_, &s_, &z_}) *array = make_array();
  if (!is_identity()) w_ = make_array();
  if (general())
    for (Array* const array : {&r_, &q_}) *array = make_array();
}

/// u = M·(b − product), w = A·u and, of a preconditioner that is not general, m = M·w.
void PipelinedCg::collective_begin(const TeamThread& thread, std::span<const double> b,
                                   const double* product) {
  double* const m = m_->values();
  double* const r = general() ? r_.data() : u_.data();
  fill_zero(thread, {p_.data(), s_.data(), z_.data()});
  subtract(thread, b, product, r);
  if (general()) {
    fill_zero(thread, {q_.data()});
    thread.barrier();
    general()->apply(thread, r, u_.data());
  }
  scale(thread, u_.data());
  copy(thread, u_.data(), m);
  op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
  thread.barrier();
  copy(thread, n_.data(), w());
  if (!general()) {
    copy(thread, n_.data(), m);
    scale(thread, m);
  }
  thread.barrier();
}

/// r·r, r·u and w·u, of which the first was `r_square`.
template <class Sum>
std::array<Sum, 3> PipelinedCg::next_sums(const TeamThread& thread, double r_square) {
  const double inverse = preconditioner_norm();
  const double u_estimate = is_identity() ? 0 : inverse * r_square;
  return {Sum(fitted_.next<Sum>(thread, 0, r_square)),
          Sum(fitted_.next<Sum>(thread, 1, u_estimate)),
          Sum(fitted_.next<Sum>(thread, 2, norm_ * inverse * inverse * r_square))};
}

/// Adds r·r, r·u and w·u where no pass has.
void PipelinedCg::add_sums(const TeamThread& thread, double r_square) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  if (general()) {
    auto [r_dot_r, r_dot_u, w_dot_u] = next_sums<BinnedSum>(thread, r_square);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_square(r_.data() + i, count, r_dot_r);
      add_product(r_.data() + i, u_.data() + i, count, r_dot_u);
      add_product(w_.data() + i, u_.data() + i, count, w_dot_u);
    });
    return flush(sums_, thread, {&r_dot_r, &r_dot_u, &w_dot_u});
  }
  auto [r_dot_r, r_dot_u, w_dot_u] = next_sums<CloseSum>(thread, r_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_squares_of_u(u_.data() + i, diagonal(i), count, r_dot_r, r_dot_u);
    add_product(w() + i, u_.data() + i, count, w_dot_u);
  });
  flush(sums_, thread, {&r_dot_r, &r_dot_u, &w_dot_u});
}

void PipelinedCg::collective_carry_all(const TeamThread& thread, Carry direction,
                                       double& first_norm, SolveReport& report,
                                       std::initializer_list<double*> scalars) {
  collective_carry(thread, direction, first_norm, report, scalars,
                   {x_.data(), u_.data(), m_->values(), w_.data(), p_.data(), s_.data(), z_.data(),
                    r_.data(), q_.data()});
  if (direction == Carry::restore) {
    op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
    thread.barrier();
  }
}

ReducedCg::Step PipelinedCg::collective_next_step(const TeamThread& thread, const State& state) {
  if (general() || !state.has_direction) add_sums(thread, state.r_square);
  sums_.collective_start(thread);
  if (general()) {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    general()->apply(thread, w_.data(), m_->values());
  }
  op().apply(thread, options().mode, *m_, n_.data(), timer_, {});
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  sums_.collective_finish(thread);
  std::array<double, 3> values{sums_.result(0), sums_.result(1), sums_.result(2)};
  const double* const r = general() ? r_.data() : u_.data();
  fitted_.collective_fit(thread, values,
                         [&, d = diagonal(0), w = w()](std::size_t sum, std::size_t i) {
                           const double r_i = d ? d[i] * r[i] : r[i];
                           return sum == 2 ? w[i] * u_[i] : r_i * (sum == 0 ? r_i : u_[i]);
                         });
  return step_from(state, values[0], is_identity() ? values[0] : values[1], values[2]);
}

void PipelinedCg::collective_advance(const TeamThread& thread, const State& state,
                                     const Step& step) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double beta = state.has_direction ? step.beta : 0;
  if (general()) {
    const double* const m = m_->values();
    for_each_element(thread, [&, alpha = step.alpha](std::size_t i) {
      z_[i] = n_[i] + beta * z_[i];
      q_[i] = m[i] + beta * q_[i];
      s_[i] = w_[i] + beta * s_[i];
      p_[i] = u_[i] + beta * p_[i];
      x_[i] += alpha * p_[i];
      r_[i] -= alpha * s_[i];
      u_[i] -= alpha * q_[i];
      w_[i] -= alpha * z_[i];
    });
    return thread.barrier();
  }
  auto [r_dot_r, r_dot_u, w_dot_u] = next_sums<CloseSum>(thread, step.r_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    ghysels_vanroose_pass(step.alpha, beta,
                          {u_.data() + i, w() + i, m_->values() + i, n_.data() + i, p_.data() + i,
                           s_.data() + i, z_.data() + i, x_.data() + i},
                          diagonal(i), inverse_diagonal(i), count, r_dot_r, r_dot_u, w_dot_u);
  });
  flush(sums_, thread, {&r_dot_r, &r_dot_u, &w_dot_u});
}

}  // namespace weft::solver
