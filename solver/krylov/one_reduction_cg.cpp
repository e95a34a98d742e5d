#include "solver/krylov/one_reduction_cg.h"

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

OneReductionCg::OneReductionCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options), 3),  // r·r, r·u, u·w
      u_(collective_make_operand()) {
  for (Array* const array : {&w_, &p_, &s_}) *array = make_array();
  if (general()) r_ = make_array();
}

void OneReductionCg::collective_begin(const TeamThread& thread, std::span<const double> b,
                                      const double* product) {
  double* const u = u_->values();
  double* const r = general() ? r_.data() : u;
  fill_zero(thread, {p_.data(), s_.data()});
  subtract(thread, b, product, r);
  scale(thread, u);
  thread.barrier();
  if (general()) general()->apply(thread, r, u);
}

/// r·r, which was `r_square`, and r·u.
template <class Sum>
std::array<Sum, 2> OneReductionCg::next_sums(const TeamThread& thread, double r_square) {
  const double u_estimate = is_identity() ? 0 : preconditioner_norm() * r_square;
  return {Sum(fitted_.next<Sum>(thread, 0, r_square)),
          Sum(fitted_.next<Sum>(thread, 1, u_estimate))};
}

/// Adds r·r and r·u where no pass has.
void OneReductionCg::add_sums(const TeamThread& thread, double r_square) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double* const u = u_->values();
  if (general()) {
    auto [r_dot_r, r_dot_u] = next_sums<BinnedSum>(thread, r_square);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      add_square(r_.data() + i, count, r_dot_r);
      add_product(r_.data() + i, u + i, count, r_dot_u);
    });
    return flush(sums_, thread, {&r_dot_r, &r_dot_u});
  }
  auto [r_dot_r, r_dot_u] = next_sums<CloseSum>(thread, r_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    add_squares_of_u(u + i, diagonal(i), count, r_dot_r, r_dot_u);
  });
  flush(sums_, thread, {&r_dot_r, &r_dot_u});
}

void OneReductionCg::collective_carry_all(const TeamThread& thread, Carry direction,
                                          double& first_norm, SolveReport& report,
                                          std::initializer_list<double*> scalars) {
  collective_carry(thread, direction, first_norm, report, scalars,
                   {x_.data(), u_->values(), p_.data(), s_.data(), r_.data()});
  if (direction == Carry::restore) {
    op().apply(thread, options().mode, *u_, w_.data(), timer_, {});
    thread.barrier();
  }
}

ReducedCg::Step OneReductionCg::collective_next_step(const TeamThread& thread, const State& state) {
  const double inverse = preconditioner_norm();
  if (general() || !state.has_direction) add_sums(thread, state.r_square);
  const double estimate =
      op().sums_without_bound() ? 0 : norm_ * inverse * inverse * state.r_square;
  op().apply(thread, options().mode, *u_, w_.data(), timer_,
             {&sums_.part(thread.index, 2), fitted_.next<CloseSum>(thread, 2, estimate)});
  const PhaseScope scope(timer_, thread.index, Phase::reduction);
  sums_.collective_reduce(thread);
  std::array<double, 3> values{sums_.result(0), sums_.result(1), sums_.result(2)};
  const double* const u = u_->values();
  const double* const r = general() ? r_.data() : u;
  fitted_.collective_fit(thread, values, [&, d = diagonal(0)](std::size_t sum, std::size_t i) {
    const double r_i = d ? d[i] * r[i] : r[i];
    return sum == 2 ? u[i] * w_[i] : r_i * (sum == 0 ? r_i : u[i]);
  });
  return step_from(state, values[0], is_identity() ? values[0] : values[1], values[2]);
}

void OneReductionCg::collective_advance(const TeamThread& thread, const State& state,
                                        const Step& step) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  const double beta = state.has_direction ? step.beta : 0;
  double* const u = u_->values();
  if (general()) {
    for_each_element(thread, [&, alpha = step.alpha](std::size_t i) {
      p_[i] = u[i] + beta * p_[i];
      s_[i] = w_[i] + beta * s_[i];
      x_[i] += alpha * p_[i];
      r_[i] -= alpha * s_[i];
    });
    thread.barrier();
    return general()->apply(thread, r_.data(), u);
  }
  auto [r_dot_r, r_dot_u] = next_sums<CloseSum>(thread, step.r_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    chronopoulos_gear_pass(step.alpha, beta,
                           {u + i, w_.data() + i, p_.data() + i, s_.data() + i, x_.data() + i},
                           diagonal(i), inverse_diagonal(i), count, r_dot_r, r_dot_u);
  });
  flush(sums_, thread, {&r_dot_r, &r_dot_u});
}

}  // namespace weft::solver
