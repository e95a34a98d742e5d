#include "solver/krylov/method.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "perfmodel/stopwatch.h"
#include "solver/checkpoint/system_checksum.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/report/relative_residual.h"

namespace weft::solver {

using comm_thread::TeamThread;

KrylovMethod::KrylovMethod(spmv::LinearOperator& op, Options options)
    : operator_(op),
      options_(std::move(options)),
      diagonal_(options_.preconditioner ? options_.preconditioner->as_diagonal() : nullptr),
      squares_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      largest_(static_cast<std::size_t>(op.team().thread_count())) {
  x_ = make_array();
}

KrylovMethod::Array KrylovMethod::make_array() const {
  Array array(operator_.element_count());
  operator_.team().run([&](const TeamThread& thread) { fill_zero(thread, {array.data()}); });
  return array;
}

const double* KrylovMethod::diagonal(std::size_t begin) const {
  return diagonal_ ? diagonal_->diagonal() + begin : nullptr;
}

const double* KrylovMethod::inverse_diagonal(std::size_t begin) const {
  return diagonal_ ? diagonal_->inverse() + begin : nullptr;
}

void KrylovMethod::fill_zero(const TeamThread& thread,
                             std::initializer_list<double*> arrays) const {
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    for (double* const array : arrays) std::fill_n(array + i, count, 0.0);
  });
}

void KrylovMethod::copy(const TeamThread& thread, const double* from, double* to) const {
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { std::copy_n(from + i, count, to + i); });
}

void KrylovMethod::subtract(const TeamThread& thread, std::span<const double> b,
                            const double* product, double* r) const {
  if (!product) return copy(thread, b.data(), r);
  for_each_element(thread, [&](std::size_t i) { r[i] = b[i] - product[i]; });
}

void KrylovMethod::scale(const TeamThread& thread, double* v) const {
  if (!diagonal_) return;
  const double* const inverse = diagonal_->inverse();
  for_each_element(thread, [&](std::size_t i) { v[i] = inverse[i] * v[i]; });
}

const double* KrylovMethod::collective_multiply_solution(const TeamThread& thread,
                                                         perfmodel::PhaseTimer& timer) {
  const Spare lent = spare();
  copy(thread, x_.data(), lent.operand->values());
  operator_.apply(thread, options_.mode, *lent.operand, lent.product, timer, {});
  thread.barrier();
  return lent.product;
}

void KrylovMethod::settle(const TeamThread& thread, LeastIterate& iterates, double* other) {
  if (iterates.is_current_in_x()) return;
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::swap_ranges(other + i, other + i + count, x_.data() + i);
  });
  iterates.exchange();
}

void KrylovMethod::settle_at_end(const TeamThread& thread, LeastIterate& iterates, double* other,
                                 double first_norm, SolveReport& report) {
  if (report.status == SolveStatus::breakdown || report.status == SolveStatus::diverged) {
    const double norm = iterates.go_back();
    report.recurrence_residual = first_norm > 0 ? norm / first_norm : 0;
  }
  settle(thread, iterates, other);
}

void KrylovMethod::collective_begin_again(const TeamThread& thread, std::span<const double> b) {
  collective_begin(thread, b, collective_multiply_solution(thread, timer_));
}

double KrylovMethod::collective_bound_square(const TeamThread& thread, std::span<const double> b,
                                             const double* product) {
  double largest = 0;
  for_each_element(thread, [&](std::size_t i) {
    const double value = std::abs(product ? b[i] - product[i] : b[i]);
    largest = value > largest || std::isnan(value) ? value : largest;
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

double KrylovMethod::collective_square(const TeamThread& thread, std::span<const double> b,
                                       const double* product) {
  spmv::BinnedSum squares(collective_bound_square(thread, b, product));
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    if (product)
      add_difference_square(b.data() + i, product + i, count, squares);
    else
      add_square(b.data() + i, count, squares);
  });
  squares.flush(squares_.part(thread.index));
  squares_.collective_reduce(thread);
  return squares_.result();
}

SolveReport KrylovMethod::start_report(const StopCriterion& stop, double square, double bound) {
  SolveReport report;
  report.recurrence_residual = square == 0 && bound == 0 ? 0 : 1;
  const double norm = std::sqrt(square);
  if (!std::isfinite(square) || (square == 0 && bound > 0) ||
      is_out_of_range(norm, stop.wanted_norm(norm))) {
    report.status = SolveStatus::breakdown;
    report.explanation = out_of_range;
  } else if (stop.is_met(norm, norm)) {
    report.status = SolveStatus::converged;
  }
  return report;
}

void KrylovMethod::note(const TeamThread& thread, double norm, double first_norm,
                        SolveReport& report) const {
  report.recurrence_residual = first_norm > 0 ? norm / first_norm : 0;
  const std::int64_t k = report.iterations;
  if (options_.stop.is_met(norm, first_norm))
    report.status = SolveStatus::converged;
  else if (norm > options_.stop.divergence * first_norm)
    report.status = SolveStatus::diverged;
  else if (!std::isfinite(norm))
    break_down(report, not_finite);
  else if (asked_before(k) == Asked::stop)
    report.status = SolveStatus::stopped;
  watch_progress(norm, first_norm, report);
  forecast_products(thread, norm, first_norm, report);
  if (!thread.is_primary() || k == 0) return;
  if (options_.on_iteration) options_.on_iteration(k, report.recurrence_residual);
  if (options_.stops || options_.checkpoints)
    asked_[k & 1].store(ask(k, report.recurrence_residual), std::memory_order_relaxed);
}

KrylovMethod::Asked KrylovMethod::asked_before(std::int64_t iteration) const {
  if (iteration < 1) return Asked::nothing;
  return asked_[(iteration - 1) & 1].load(std::memory_order_relaxed);
}

KrylovMethod::Asked KrylovMethod::ask(std::int64_t iteration, double residual) const {
  using Wish = Checkpoints::Wish;
  const Wish wish =
      options_.checkpoints ? options_.checkpoints->after_iteration(iteration) : Wish::none;
  if ((options_.stops && options_.stops(iteration, residual)) || wish == Wish::keep_and_stop)
    return Asked::stop;
  return wish == Wish::keep ? Asked::checkpoint : Asked::nothing;
}

bool KrylovMethod::is_checkpoint_due(const SolveReport& report) const {
  if (!options_.checkpoints || report.iterations < 1) return false;
  if (report.status == SolveStatus::stopped) return true;
  return report.status == SolveStatus::not_converged &&
         (report.iterations >= options_.stop.max_iterations ||
          asked_before(report.iterations) == Asked::checkpoint);
}

void KrylovMethod::collective_carry(const TeamThread& thread, Carry direction, double& first_norm,
                                    SolveReport& report, std::initializer_list<double*> scalars,
                                    std::initializer_list<double*> vectors) {
  auto iterations = static_cast<double>(report.iterations);
  auto restarts = static_cast<double>(report.restarts);
  auto halved_iteration = static_cast<double>(report.halved_iteration);
  std::array<double*, CheckpointHeader::most_scalars> all_scalars{&iterations,
                                                                  &restarts,
                                                                  &halved_iteration,
                                                                  &report.halved_residual,
                                                                  &report.recurrence_residual,
                                                                  &report.verified_norm,
                                                                  &first_norm};
  constexpr std::size_t common_count = 7;
  std::ranges::copy(scalars, all_scalars.begin() + common_count);
  std::array<double*, 16> all_vectors{};
  const auto end = std::ranges::copy_if(vectors, all_vectors.begin(), [](const double* vector) {
                     return vector != nullptr;
                   }).out;
  const std::span scalar_list(all_scalars.data(), common_count + scalars.size());
  const std::span vector_list(all_vectors.begin(), end);
  if (direction == Carry::keep)
    return options_.checkpoints->collective_keep(thread, report.iterations, scalar_list,
                                                 vector_list);
  options_.checkpoints->collective_restore(thread, scalar_list, vector_list);
  report.iterations = static_cast<std::int64_t>(iterations);
  report.restarts = static_cast<std::int64_t>(restarts);
  report.halved_iteration = static_cast<std::int64_t>(halved_iteration);
}

void KrylovMethod::forecast_products(const TeamThread& thread, double norm, double first_norm,
                                     const SolveReport& report) const {
  constexpr std::int64_t iterations_that_tell = 10;
  if (report.iterations != iterations_that_tell || report.status != SolveStatus::not_converged)
    return;
  operator_.expect_products_here(
      thread, options_.stop.expected_iterations(report.iterations, norm, first_norm));
}

void KrylovMethod::watch_progress(double norm, double first_norm, SolveReport& report) const {
  if (report.halved_residual == 0 || report.recurrence_residual <= report.halved_residual / 2) {
    report.halved_residual = report.recurrence_residual;
    report.halved_iteration = report.iterations;
  }
  const std::int64_t waited = report.iterations - report.halved_iteration;
  if (options_.patience > 0 && report.status == SolveStatus::not_converged &&
      waited >= std::max(options_.patience, report.iterations / 2))
    break_down(report,
               fmt::format("stalled: the residual has not halved in {} iterations", waited));
  // A residual that halves with twice the iterations is no stall. Methods often become faster: what
  // few iterations promise is not believed.
  const std::int64_t left = options_.stop.max_iterations - report.iterations;
  if (options_.patience > 0 && report.status == SolveStatus::not_converged && norm < first_norm &&
      left > 0 && report.iterations >= 2 * options_.patience &&
      options_.stop.expected_iterations(report.iterations, norm, first_norm) >= left)
    break_down(report, fmt::format("too slow: at this rate {} iterations are too few",
                                   options_.stop.max_iterations));
}

SolveReport KrylovMethod::collective_solve(const TeamThread& thread, std::span<const double> b,
                                           double& first_norm) {
  const double bound = collective_bound_square(thread, b, nullptr);
  fill_zero(thread, {x_.data()});
  collective_begin(thread, b, nullptr);
  timer_.start(thread.index);
  SolveReport report;
  collective_iterate(thread, b, bound, first_norm, report);
  return report;
}

SolveReport KrylovMethod::collective_solve_from(const TeamThread& thread, std::span<const double> b,
                                                std::span<const double> guess, double& first_norm) {
  const double square = collective_square(thread, b, nullptr);
  SolveReport report = start_report(square, bound_);
  if (report.status == SolveStatus::breakdown || square == 0) {
    fill_zero(thread, {x_.data()});
    thread.barrier();
    first_norm = std::sqrt(square);
    return report;
  }
  report.status = SolveStatus::not_converged;
  first_norm = std::sqrt(square);
  copy(thread, guess.data(), x_.data());
  thread.barrier();
  const double norm = collective_true_norm(thread, b);
  report.recurrence_residual = norm / first_norm;
  timer_.start(thread.index);
  if (options_.stop.is_met(norm, first_norm)) {
    report.status = SolveStatus::converged;
    return report;
  }
  collective_begin(thread, b, spare().product);
  collective_iterate(thread, b, norm * norm, first_norm, report);
  return report;
}

SolveReport KrylovMethod::collective_continue(const TeamThread& thread, std::span<const double> b,
                                              double& first_norm) {
  fill_zero(thread, {x_.data()});
  collective_begin(thread, b, nullptr);
  timer_.start(thread.index);
  SolveReport report;
  collective_iterate(thread, b, 0, first_norm, report);
  return report;
}

/// The matrix and the preconditioner are told by what they make of a vector, whose bits are the
/// same on any ranks and threads, and in any format.
void KrylovMethod::collective_open_checkpoints(std::span<const double> b) {
  const Recurrence state = recurrence();
  SolveIdentity identity = identity_of(state.name, operator_.global_row_count());
  identity.right_hand_side = collective_checksum(operator_, b.data());
  identity.matrix = collective_matrix_checksum(operator_, options_.mode);
  if (diagonal_) {
    identity.preconditioner = collective_checksum(operator_, diagonal_->inverse());
  } else if (general()) {
    Array probe = make_array();
    Array product = make_array();
    general()->begin_solve();
    operator_.team().run([&](const TeamThread& thread) {
      fill_with_probe(thread, operator_, probe.data());
      thread.barrier();
      general()->apply(thread, probe.data(), product.data());
    });
    identity.preconditioner = collective_checksum(operator_, product.data());
  }
  options_.checkpoints->collective_open(operator_, identity, state.vector_count);
}

SolveReport KrylovMethod::solve_in_team(const TeamThread& thread, std::span<const double> b) {
  double first_norm = -1;
  return collective_solve(thread, b, first_norm);
}

double KrylovMethod::collective_true_norm(const TeamThread& thread, std::span<const double> b) {
  perfmodel::PhaseTimer not_reported;
  return std::sqrt(
      collective_square(thread, b, collective_multiply_solution(thread, not_reported)));
}

bool KrylovMethod::must_begin_again(const StopCriterion& stop, double norm, double first_norm,
                                    double norm_before, SolveReport& report) {
  report.relative_residual = first_norm > 0 ? norm / first_norm : norm;
  // Where no double holds the square of b's norm, x is 0 still.
  if (report.status == SolveStatus::breakdown && !(first_norm > 0 && std::isfinite(first_norm)))
    report.relative_residual = 1;
  if (report.status == SolveStatus::not_converged && report.relative_residual > 1)
    report.explanation = fmt::format(
        "the residual rose to {:.3g} of the first: the matrix may be singular or indefinite",
        report.relative_residual);
  if (report.status != SolveStatus::converged ||
      norm <= allowed_drift * stop.wanted_norm(first_norm))
    return false;
  report.status = SolveStatus::not_converged;
  if (!(norm < least_gain * norm_before)) {
    report.explanation = fmt::format(
        "the residual stopped falling at {:.3g} of the first, where its recurrence says {:.3g}: "
        "the matrix may be singular, or so ill-conditioned that rounding allows no more",
        report.relative_residual, report.recurrence_residual);
    return false;
  }
  return report.iterations < stop.max_iterations;
}

std::string KrylovMethod::explain_curvature(double curvature) {
  if (!std::isfinite(curvature))
    return fmt::format(
        "p·A·p = {:.3g}: rows differ so much in scale that sums over all rows lose the small ones; "
        "scale the system, or use --preconditioner none or --method gmres",
        curvature);
  return fmt::format(
      "p·A·p = {:.3g} is not positive: the matrix is not positive definite, or nothing but "
      "rounding is left to iterate on",
      curvature);
}

/// Every thread computes the same.
void KrylovMethod::collective_verify(const TeamThread& thread, std::span<const double> b,
                                     double first_norm, SolveReport& report) {
  while (true) {
    const double norm = collective_true_norm(thread, b);
    if (!must_begin_again(options_.stop, norm, first_norm, report.verified_norm, report)) return;
    report.verified_norm = norm;
    ++report.restarts;
    collective_begin(thread, b, spare().product);
    collective_iterate(thread, b, norm * norm, first_norm, report);
  }
}

SolveReport KrylovMethod::solve(std::span<const double> b, const Guess& guess) {
  timer_ = {};
  for (auto& asked : asked_) asked.store(Asked::nothing, std::memory_order_relaxed);
  if (options_.checkpoints) collective_open_checkpoints(b);
  if (options_.preconditioner) options_.preconditioner->begin_solve();
  SolveReport report;
  const double cpu_before = operator_.comm_thread().cpu_seconds();
  const perfmodel::Stopwatch watch;
  operator_.team().run([&](const TeamThread& thread) {
    double first_norm = -1;
    SolveReport state = is_continued() ? collective_continue(thread, b, first_norm)
                        : guess        ? collective_solve_from(thread, b, *guess, first_norm)
                                       : collective_solve(thread, b, first_norm);
    collective_verify(thread, b, first_norm, state);
    if (thread.is_primary()) report = std::move(state);
  });
  report.solve_seconds = watch.seconds();
  report.comm_thread_cpu_seconds = operator_.comm_thread().cpu_seconds() - cpu_before;
  report.phases = timer_.times();
  return report;
}

}  // namespace weft::solver
