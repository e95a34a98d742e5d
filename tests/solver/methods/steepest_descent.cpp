#include "tests/solver/methods/steepest_descent.h"

#include <cmath>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;

SteepestDescent::SteepestDescent(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      norm_(op.collective_norm()),
      sum_(collective_make_sum(1)),
      z_(collective_make_operand()) {
  r_ = make_array();
  q_ = make_array();
}

void SteepestDescent::collective_begin(const TeamThread& thread, const Solve& solve,
                                       const double* product) {
  subtract(thread, solve.b, product, r_.data());
  thread.barrier();
}

double SteepestDescent::collective_dot(const TeamThread& thread, const double* a, const double* b,
                                       double bound) {
  spmv::BinnedSum sum(bound);
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { add_product(a + i, b + i, count, sum); });
  sum.flush(sum_.part(thread.index));
  sum_.collective_reduce(thread);
  return sum_.result();
}

void SteepestDescent::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  SolveReport& report = solve.report;
  double* const z = z_->values();
  if (is_continued()) collective_carry(thread, Carry::restore, solve, {}, carried());
  double square = collective_dot(thread, r_.data(), r_.data(), solve.bound);
  solve.know_first_norm(std::sqrt(square));
  while (solve.goes_on()) {
    if (general()) {
      thread.barrier();
      general()->apply(thread, r_.data(), z);
    } else {
      copy(thread, r_.data(), z);
      scale(thread, z);
    }
    const double z_bound = preconditioner_norm() * preconditioner_norm() * square;
    const double r_dot_z = collective_dot(thread, r_.data(), z, preconditioner_norm() * square);
    collective_multiply(thread, *z_, q_.data());
    thread.barrier();
    const double curvature = collective_dot(thread, z, q_.data(), norm_ * z_bound);
    if (!(curvature > 0)) return break_down(report, explain_curvature(curvature));
    const double alpha = r_dot_z / curvature;
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      update_solution(alpha, z + i, x_.data() + i, count);
      update_solution(-alpha, q_.data() + i, r_.data() + i, count);
    });
    const double r_bound = std::sqrt(square) + alpha * norm_ * std::sqrt(z_bound);
    square = collective_dot(thread, r_.data(), r_.data(), r_bound * r_bound);
    ++report.iterations;
    note(thread, std::sqrt(square), solve);
    if (is_checkpoint_due(report)) collective_carry(thread, Carry::keep, solve, {}, carried());
  }
}

}  // namespace weft::solver
