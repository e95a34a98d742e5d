#include "solver/conjugate_gradient.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "solver/fused_vector_kernels.h"
#include "solver/inverse_diagonal.h"
#include "spmv/block_dot.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using perfmodel::HugePageBuffer;
using perfmodel::Phase;

}  // namespace

ConjugateGradient::ConjugateGradient(spmv::SparseOperator& op, Options options)
    : operator_(op),
      options_(std::move(options)),
      curvature_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      residual_(op.communicator(), op.comm_thread(), op.team().thread_count(), 2),
      p_(op.collective_make_vector()) {
  const auto row_count = static_cast<std::size_t>(op.matrix().row_count());
  x_ = HugePageBuffer<double>(row_count);
  r_ = HugePageBuffer<double>(row_count);
  q_ = HugePageBuffer<double>(row_count);
  if (options_.preconditioner == Preconditioner::jacobi)
    inverse_diagonal_ = collective_invert_diagonal(op, 1, "pcg-jacobi");
}

template <class Work>
void ConjugateGradient::for_each_block(const TeamThread& thread, const Work& work) const {
  const auto cuts = operator_.matrix().thread_rows();
  const std::int64_t end = cuts[static_cast<std::size_t>(thread.index) + 1];
  const std::int64_t block_size = operator_.matrix().block_size();
  for (std::int64_t row = cuts[static_cast<std::size_t>(thread.index)]; row < end;
       row += block_size)
    work(row, std::min(block_size, end - row));
}

ConjugateGradient::Norms ConjugateGradient::collective_start(const TeamThread& thread,
                                                             std::span<const double> b) {
  auto& squares = residual_.part(thread.index, 0);
  auto& products = residual_.part(thread.index, 1);
  double* const p = p_->own().data();
  double largest = 0;  // |b_i| of this thread
  for_each_block(thread, [&](std::int64_t row, std::int64_t count) {
    std::fill_n(x_.data() + row, count, 0.0);
    std::fill_n(q_.data() + row, count, 0.0);
    const ResidualSums sums = form_residual(b.data() + row, q_.data() + row, inverse_diagonal(row),
                                            r_.data() + row, count);
    squares.add(sums.r_dot_r);
    products.add(sums.r_dot_z);
    start_direction(r_.data() + row, inverse_diagonal(row), p + row, count);
    largest = std::transform_reduce(
        b.begin() + row, b.begin() + row + count, largest,
        [](double x, double y) { return std::max(x, y); }, [](double x) { return std::abs(x); });
  });
  curvature_.part(thread.index).add(largest);
  curvature_.collective_reduce(thread);
  residual_.collective_reduce(thread);
  return {std::sqrt(residual_.result(0)), residual_.result(1), curvature_.result() > 0};
}

double ConjugateGradient::collective_product(const TeamThread& thread) {
  operator_.multiply(thread, options_.mode, *p_, q_.span(), timer_, &curvature_.part(thread.index));
  curvature_.collective_reduce(thread);
  if (thread.is_primary()) timer_.lap(Phase::reduction);
  return curvature_.result();
}

ConjugateGradient::Norms ConjugateGradient::collective_update_residual(const TeamThread& thread,
                                                                       double alpha) {
  auto& squares = residual_.part(thread.index, 0);
  auto& products = residual_.part(thread.index, 1);
  for_each_block(thread, [&](std::int64_t row, std::int64_t count) {
    const ResidualSums sums =
        update_residual(alpha, q_.data() + row, inverse_diagonal(row), r_.data() + row, count);
    squares.add(sums.r_dot_r);
    products.add(sums.r_dot_z);
  });
  if (thread.is_primary()) timer_.lap(Phase::vector_update);
  residual_.collective_reduce(thread);
  if (thread.is_primary()) timer_.lap(Phase::reduction);
  return {std::sqrt(residual_.result(0)), residual_.result(1)};
}

void ConjugateGradient::advance(const TeamThread& thread, double alpha, double beta) {
  double* const p = p_->own().data();
  for_each_block(thread, [&](std::int64_t row, std::int64_t count) {
    update_solution_and_direction(alpha, beta, r_.data() + row, inverse_diagonal(row),
                                  x_.data() + row, p + row, count);
  });
  if (thread.is_primary()) timer_.lap(Phase::vector_update);
}

double ConjugateGradient::collective_true_residual(const TeamThread& thread,
                                                   std::span<const double> b) {
  double* const p = p_->own().data();
  auto& squares = residual_.part(thread.index, 0);
  auto& squares_of_b = residual_.part(thread.index, 1);
  for_each_block(thread, [&](std::int64_t row, std::int64_t count) {
    std::copy_n(x_.data() + row, count, p + row);
  });
  perfmodel::PhaseTimer not_reported;
  operator_.multiply(thread, options_.mode, *p_, q_.span(), not_reported);
  for_each_block(thread, [&](std::int64_t row, std::int64_t count) {
    squares.add(
        form_residual(b.data() + row, q_.data() + row, nullptr, r_.data() + row, count).r_dot_r);
    squares_of_b.add(spmv::block_dot(b.data() + row, b.data() + row, count));
  });
  residual_.collective_reduce(thread);
  const double norm_of_b = std::sqrt(residual_.result(1));
  return std::sqrt(residual_.result(0)) / (norm_of_b > 0 ? norm_of_b : 1);
}

/// Every thread computes the same `state`.
SolveReport ConjugateGradient::solve_in_team(const TeamThread& thread, std::span<const double> b) {
  Norms norms = collective_start(thread, b);
  const double first_norm = norms.r;
  if (thread.is_primary()) timer_.start();
  SolveReport state;
  if (!std::isfinite(first_norm) || (first_norm == 0 && norms.is_nonzero)) {
    state.status = SolveStatus::breakdown;
    state.explanation = "the squares of b leave the range of double; scale the system";
  } else if (options_.stop.is_met(norms.r, first_norm)) {
    state.status = SolveStatus::converged;
  }

  while (state.status == SolveStatus::not_converged &&
         state.iterations < options_.stop.max_iterations) {
    const double curvature = collective_product(thread);
    if (!(curvature > 0)) {
      state.status = SolveStatus::breakdown;
      state.explanation = fmt::format(
          "p·A·p = {:.3g} is not positive: the matrix is not positive definite, or nothing but "
          "rounding is left to iterate on",
          curvature);
      break;
    }
    const double alpha = norms.r_dot_z / curvature;
    const Norms next = collective_update_residual(thread, alpha);
    ++state.iterations;
    if (options_.stop.is_met(next.r, first_norm)) state.status = SolveStatus::converged;
    advance(thread, alpha, next.r_dot_z / norms.r_dot_z);
    norms = next;
    if (thread.is_primary() && options_.on_iteration)
      options_.on_iteration(state.iterations, norms.r / first_norm);
  }
  state.recurrence_residual = first_norm > 0 ? norms.r / first_norm : 0;
  return state;
}

SolveReport ConjugateGradient::solve(std::span<const double> b) {
  timer_ = {};
  SolveReport report;
  const double cpu_before = operator_.comm_thread().cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  operator_.team().run([&](const TeamThread& thread) {
    SolveReport state = solve_in_team(thread, b);
    state.relative_residual = collective_true_residual(thread, b);
    if (thread.is_primary()) report = std::move(state);
  });
  report.solve_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.comm_thread_cpu_seconds = operator_.comm_thread().cpu_seconds() - cpu_before;
  report.phases = timer_.times();
  return report;
}

}  // namespace weft::solver
