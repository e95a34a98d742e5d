#include "solver/krylov/one_reduction_cg.h"

#include <array>
#include <utility>

#include "solver/krylov/reduced_cg_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::CloseSum;

OneReductionCg::OneReductionCg(spmv::LinearOperator& op, Options options)
    : ReducedCg(op, std::move(options), 3),  // r·r, r·u, u·w
      u_(collective_make_operand()) {
  for (Array* const array : {&w_, &p_, &s_}) *array = make_array();
  if (general()) r_ = make_array();
  const Factor r = of_any(r_, u_->values());
  const Factor u = as_stored(u_->values());
  set_products({{r, r, 0, 0}, {r, u, 0, 1}, {u, as_stored(w_.data()), 1, 2}});
}

void OneReductionCg::collective_begin(const TeamThread& thread, const Solve& solve,
                                      const double* product) {
  double* const u = u_->values();
  double* const r = general() ? r_.data() : u;
  fill_zero(thread, {p_.data(), s_.data()});
  subtract(thread, solve.b, product, r);
  scale(thread, u);
  thread.barrier();
  if (general()) general()->apply(thread, r, u);
}

void OneReductionCg::collective_complete(const TeamThread& thread) {
  collective_multiply(thread, *u_, w_.data());
  thread.barrier();
}

ReducedCg::Step OneReductionCg::collective_next_step(const TeamThread& thread, const State& state) {
  if (general() || !state.has_direction) {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    add_products(thread, 2, state.r_square);
  }
  const double bound =
      next_bound<CloseSum>(thread, 2, op().sums_without_bound() ? 0 : state.r_square);
  collective_multiply(thread, *u_, w_.data(), {&sums_.part(thread.index, 2), bound});
  collective_reduce(thread, sums_);
  const auto values = collective_fit(thread);
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
  std::array<CloseSum, 2> sums = next_sums<2>(thread, step.r_square);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    chronopoulos_gear_pass(step.alpha, beta,
                           {u + i, w_.data() + i, p_.data() + i, s_.data() + i, x_.data() + i},
                           diagonal(i), inverse_diagonal(i), count, sums);
  });
  flush(thread, sums);
}

}  // namespace weft::solver
