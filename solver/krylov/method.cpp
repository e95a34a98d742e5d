#include "solver/krylov/method.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {

using comm_thread::TeamThread;

KrylovMethod::KrylovMethod(spmv::LinearOperator& op, Options options)
    : operator_(op),
      options_(std::move(options)),
      squares_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      largest_(static_cast<std::size_t>(op.team().thread_count())) {
  x_ = make_array();
}

KrylovMethod::Array KrylovMethod::make_array() const {
  Array array(operator_.element_count());
  operator_.team().run([&](const TeamThread& thread) {
    for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
      std::fill_n(array.data() + begin, count, 0.0);
    });
  });
  return array;
}

double KrylovMethod::collective_bound_square(const TeamThread& thread, std::span<const double> b) {
  double largest = 0;
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = std::abs(b[begin + static_cast<std::size_t>(i)]);
      largest = value > largest || std::isnan(value) ? value : largest;
    }
  });
  largest_[static_cast<std::size_t>(thread.index)] = largest;
  thread.barrier();
  if (thread.is_primary()) {
    for (const double other : largest_)
      largest = std::isnan(other) ? other : std::max(largest, other);
    const double all = operator_.communicator().max(largest);
    bound_ = all * all * static_cast<double>(operator_.global_row_count());
    if (bound_ == 0 && all > 0) bound_ = std::numeric_limits<double>::min();
  }
  thread.barrier();
  return bound_;
}

SolveReport KrylovMethod::start_report(double square, double bound) const {
  SolveReport report;
  if (!std::isfinite(square) || (square == 0 && bound > 0)) {
    report.status = SolveStatus::breakdown;
    report.explanation = "the squares of b leave the range of double; scale the system";
  } else if (options_.stop.is_met(std::sqrt(square), std::sqrt(square))) {
    report.status = SolveStatus::converged;
  }
  return report;
}

void KrylovMethod::note(const TeamThread& thread, double norm, double first_norm,
                        SolveReport& report) const {
  report.recurrence_residual = first_norm > 0 ? norm / first_norm : 0;
  if (options_.stop.is_met(norm, first_norm)) report.status = SolveStatus::converged;
  if (thread.is_primary() && options_.on_iteration && report.iterations > 0)
    options_.on_iteration(report.iterations, report.recurrence_residual);
}

double KrylovMethod::collective_true_square(const TeamThread& thread, std::span<const double> b,
                                            double expected) {
  const Spare lent = spare();
  double* const values = lent.operand.values();
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    std::copy_n(x_.data() + begin, count, values + begin);
  });
  perfmodel::PhaseTimer not_reported;
  operator_.apply(thread, options_.mode, lent.operand, lent.product, not_reported, {});
  thread.barrier();
  // 2³⁵ times more than expected is still summed exactly, and 2⁻⁷⁰ of it noticed.
  spmv::BinnedSum squares(expected * 1024);
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    add_difference_square(b.data() + begin, lent.product + begin, count, squares);
  });
  squares.flush(squares_.part(thread.index));
  squares_.collective_reduce(thread);
  return squares_.result();
}

SolveReport KrylovMethod::solve(std::span<const double> b) {
  timer_ = {};
  SolveReport report;
  constexpr double rounding = std::numeric_limits<double>::epsilon();
  const double cpu_before = operator_.comm_thread().cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  operator_.team().run([&](const TeamThread& thread) {
    SolveReport state = solve_in_team(thread, b);
    spmv::BinnedSum squares(bound_);
    for_each_segment(thread, [&](std::size_t first, std::int64_t count) {
      add_square(b.data() + first, count, squares);
    });
    squares.flush(squares_.part(thread.index));
    squares_.collective_reduce(thread);
    const double square = squares_.result();
    const double reached = std::max(state.recurrence_residual, rounding);
    const double residual = collective_true_square(thread, b, square * reached * reached);
    if (!thread.is_primary()) return;
    report = std::move(state);
    report.relative_residual = std::sqrt(residual) / (square > 0 ? std::sqrt(square) : 1);
  });
  report.solve_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.comm_thread_cpu_seconds = operator_.comm_thread().cpu_seconds() - cpu_before;
  report.phases = timer_.times();
  return report;
}

}  // namespace weft::solver
