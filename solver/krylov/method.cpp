#include "solver/krylov/method.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "comm_thread/mpi/option_name.h"
#include "perfmodel/simd.h"
#include "perfmodel/stopwatch.h"
#include "solver/checkpoint/system_checksum.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "spmv/sums/largest_magnitude.h"

namespace weft::solver {

using comm_thread::TeamThread;

namespace {

/// Whole cache lines, and some more, so that columns do not begin at the same place of a page.
std::size_t stride_of(std::size_t element_count) {
  constexpr std::size_t line = 8;
  return (element_count + line - 1) / line * line + 9 * line;
}

}  // namespace

KrylovMethod::KrylovMethod(spmv::LinearOperator& op, Options options, int width)
    : operator_(op),
      options_(std::move(options)),
      diagonal_(options_.preconditioner ? options_.preconditioner->as_diagonal() : nullptr),
      stops_(static_cast<std::size_t>(width), options_.stop),
      stride_(stride_of(op.element_count())),
      squares_(collective_make_sum(width)),
      largest_(static_cast<std::size_t>(op.team().thread_count())),
      bounds_(stops_.size()) {
  x_ = make_array();
}

MethodUse KrylovMethod::use_of(const spmv::LinearOperator& op, const Options& options) {
  using Kind = MethodUse::Kind;
  const Preconditioner* const m = options.preconditioner;
  return {.preconditioner = !m                 ? Kind::none
                            : m->as_diagonal() ? Kind::diagonal
                                               : Kind::general,
          .restart = options.restart,
          .rank_count = op.communicator().size(),
          .multigrid = options.multigrid};
}

KrylovMethod::Array KrylovMethod::make_array() {
  array_count_ += width();
  Array array(start_of(width() - 1) + operator_.element_count());
  operator_.team().run([&](const TeamThread& thread) {
    for (int column = 0; column < width(); ++column)
      fill_zero(thread, {array.data() + start_of(column)});
  });
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

void KrylovMethod::collective_multiply_solutions(const TeamThread& thread,
                                                 perfmodel::PhaseTimer& timer) {
  const Spare lent = spare();
  copy(thread, x_.data(), lent.operand->values());
  operator_.apply(thread, options_.mode, *lent.operand, lent.product, timer, {});
  thread.barrier();
}

void KrylovMethod::settle(const TeamThread& thread, LeastIterate& iterates, double* other) {
  if (iterates.is_current_in_x()) return;
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::swap_ranges(other + i, other + i + count, x_.data() + i);
  });
  iterates.exchange();
}

void KrylovMethod::settle_at_end(const TeamThread& thread, LeastIterate& iterates, double* other,
                                 Solve& solve) {
  SolveReport& report = solve.report;
  if (report.status == SolveStatus::breakdown || report.status == SolveStatus::diverged) {
    const double norm = iterates.go_back();
    report.recurrence_residual = solve.rule.first_norm() > 0 ? solve.rule.relative(norm) : 0;
  }
  settle(thread, iterates, other);
}

void KrylovMethod::collective_bound_squares(const TeamThread& thread, Solves solves,
                                            bool has_products) {
  for (Solve& solve : solves) {
    const double* const product = has_products ? product_of(solve) : nullptr;
    double largest = 0;
    for_each_segment(thread, [&, b = solve.b.data()](std::size_t first, std::int64_t count) {
      const double* const mine = b + first;
      const double* const of_product = product ? product + first : nullptr;
      largest = spmv::largest_magnitude<true>(
          count,
          [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
            const auto value = perfmodel::load<Value>(mine + i);
            return of_product ? Value(value - perfmodel::load<Value>(of_product + i)) : value;
          },
          largest);
    });
    largest_[static_cast<std::size_t>(thread.index)] = largest;
    thread.barrier();
    if (thread.is_primary()) {
      for (const double other : largest_)
        largest = std::isnan(other) ? other : std::max(largest, other);
      const double all = operator_.communicator().max(largest);
      double& bound = bounds_[static_cast<std::size_t>(solve.column)];
      bound = all * all * static_cast<double>(operator_.global_row_count());
      if (bound == 0 && all > 0) bound = std::numeric_limits<double>::min();
    }
    thread.barrier();
    solve.bound = bounds_[static_cast<std::size_t>(solve.column)];
  }
}

void KrylovMethod::collective_find_norms(const TeamThread& thread, Solves solves,
                                         bool has_products) {
  collective_bound_squares(thread, solves, has_products);
  for (const Solve& solve : solves) {
    const double* const product = has_products ? product_of(solve) : nullptr;
    spmv::BinnedSum squares(solve.bound);
    for_each_segment(thread, [&, b = solve.b.data()](std::size_t i, std::int64_t count) {
      if (product)
        add_difference_square(b + i, product + i, count, squares);
      else
        add_square(b + i, count, squares);
    });
    squares.flush(squares_.part(thread.index, solve.column));
  }
  squares_.collective_reduce(thread);
  for (Solve& solve : solves) solve.true_norm = std::sqrt(squares_.result(solve.column));
}

void KrylovMethod::note(const TeamThread& thread, double norm, Solve& solve) const {
  SolveReport& report = solve.report;
  const std::int64_t k = report.iterations;
  solve.rule.note(norm, report);
  if (report.status == SolveStatus::not_converged && asked_before(k) == Asked::stop)
    report.status = SolveStatus::stopped;
  watch_progress(norm, solve);
  forecast_products(thread, norm, solve);
  if (!thread.is_primary() || k == 0) return;
  if (options_.on_iteration) options_.on_iteration(k, report.recurrence_residual);
  if (options_.on_column) options_.on_column(solve.column, k, report.recurrence_residual);
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

void KrylovMethod::collective_carry(const TeamThread& thread, Carry direction, Solve& solve,
                                    const std::vector<double*>& scalars,
                                    std::vector<double*> vectors) {
  SolveReport& report = solve.report;
  auto iterations = static_cast<double>(report.iterations);
  auto restarts = static_cast<double>(report.restarts);
  auto halved_iteration = static_cast<double>(report.halved_iteration);
  std::vector<double*> all_scalars{&iterations,
                                   &restarts,
                                   &halved_iteration,
                                   &report.halved_residual,
                                   &report.recurrence_residual,
                                   &report.verified_norm,
                                   &solve.rule.first_norm()};
  all_scalars.insert(all_scalars.end(), scalars.begin(), scalars.end());
  std::erase(vectors, nullptr);
  if (direction == Carry::keep)
    return options_.checkpoints->collective_keep(thread, report.iterations, all_scalars, vectors);
  options_.checkpoints->collective_restore(thread, all_scalars, vectors);
  report.iterations = static_cast<std::int64_t>(iterations);
  report.restarts = static_cast<std::int64_t>(restarts);
  report.halved_iteration = static_cast<std::int64_t>(halved_iteration);
}

void KrylovMethod::forecast_products(const TeamThread& thread, double norm,
                                     const Solve& solve) const {
  constexpr std::int64_t iterations_that_tell = 10;
  const SolveReport& report = solve.report;
  if (width() > 1 || report.iterations != iterations_that_tell ||
      report.status != SolveStatus::not_converged)
    return;
  operator_.expect_products_here(thread, solve.rule.criterion().expected_iterations(
                                             report.iterations, norm, solve.rule.first_norm()));
}

void KrylovMethod::watch_progress(double norm, Solve& solve) const {
  SolveReport& report = solve.report;
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
  const StopCriterion& stop = solve.rule.criterion();
  const std::int64_t left = stop.max_iterations - report.iterations;
  if (options_.patience > 0 && report.status == SolveStatus::not_converged &&
      norm < solve.rule.first_norm() && left > 0 && report.iterations >= 2 * options_.patience &&
      stop.expected_iterations(report.iterations, norm, solve.rule.first_norm()) >= left)
    break_down(report, fmt::format("too slow: at this rate {} iterations are too few",
                                   stop.max_iterations));
}

void KrylovMethod::collective_solve(const TeamThread& thread, Solves solves) {
  collective_bound_squares(thread, solves, false);
  for (const Solve& solve : solves) {
    fill_zero(thread, {x_.data() + start_of(solve.column)});
    collective_begin(thread, solve, nullptr);
  }
  timer_.start(thread.index);
  collective_iterate_running(thread, solves);
}

void KrylovMethod::collective_solve_from(const TeamThread& thread, Solves solves,
                                         std::span<const std::span<const double>> guesses) {
  collective_find_norms(thread, solves, false);
  for (Solve& solve : solves) {
    double* const x = x_.data() + start_of(solve.column);
    solve.know_first_norm(solve.true_norm);
    solve.is_running = solve.report.status != SolveStatus::breakdown && solve.true_norm != 0;
    if (solve.is_running)
      copy(thread, guesses[static_cast<std::size_t>(solve.column)].data(), x);
    else
      fill_zero(thread, {x});
  }
  thread.barrier();
  if (std::ranges::none_of(solves, &Solve::is_running)) return;
  collective_find_true_norms(thread, solves);
  timer_.start(thread.index);
  for (Solve& solve : solves) {
    if (!solve.is_running) continue;
    const double norm = solve.true_norm;
    solve.report.recurrence_residual = solve.rule.relative(norm);
    solve.bound = norm * norm;
    solve.is_running = !solve.rule.is_met(norm);
    solve.report.status = solve.is_running ? SolveStatus::not_converged : SolveStatus::converged;
    if (solve.is_running) collective_begin(thread, solve, product_of(solve));
  }
  collective_iterate_running(thread, solves);
}

void KrylovMethod::collective_continue(const TeamThread& thread, Solves solves) {
  fill_zero(thread, {x_.data()});
  collective_begin(thread, solves.front(), nullptr);
  timer_.start(thread.index);
  collective_iterate(thread, solves);
}

void KrylovMethod::collective_iterate_running(const TeamThread& thread, Solves solves) {
  if (std::ranges::any_of(solves, &Solve::is_running)) collective_iterate(thread, solves);
}

/// The matrix and the preconditioner are told by what they make of a vector, whose bits are the
/// same on any ranks and threads, and in any format.
void KrylovMethod::collective_open_checkpoints(std::span<const double> b) {
  SolveIdentity identity = identity_of(needs().state, operator_.global_row_count());
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
  std::vector<double*> vectors = carried();
  std::erase(vectors, nullptr);
  options_.checkpoints->collective_open(operator_, identity, vectors.size());
}

SolveReport KrylovMethod::solve_in_team(const TeamThread& thread, std::span<const double> b) {
  Solve solve{.b = b, .rule = StopRule(stops_.front())};
  collective_solve(thread, {&solve, 1});
  return std::move(solve.report);
}

void KrylovMethod::collective_find_true_norms(const TeamThread& thread, Solves solves) {
  perfmodel::PhaseTimer not_reported;
  collective_multiply_solutions(thread, not_reported);
  collective_find_norms(thread, solves, true);
}

std::string KrylovMethod::explain_curvature(double curvature) {
  if (!std::isfinite(curvature))
    return fmt::format(
        "p·A·p = {:.3g}: rows differ so much in scale that sums over all rows lose the small ones; "
        "scale the system, or use {} or {}",
        curvature, comm_thread::option_name("preconditioner", "none"),
        comm_thread::option_name("method", "gmres"));
  return fmt::format(
      "p·A·p = {:.3g} is not positive: the matrix is not positive definite, or nothing but "
      "rounding is left to iterate on",
      curvature);
}

/// Every thread computes the same.
void KrylovMethod::collective_verify(const TeamThread& thread, Solves solves) {
  std::vector<bool> is_over(solves.size());
  while (true) {
    collective_find_true_norms(thread, solves);
    for (std::size_t i = 0; i < solves.size(); ++i) {
      Solve& solve = solves[i];
      solve.is_running = !is_over[i] && solve.rule.must_begin_again(solve.true_norm, solve.report);
      is_over[i] = !solve.is_running;
      if (!solve.is_running) continue;
      solve.bound = solve.true_norm * solve.true_norm;
      collective_begin(thread, solve, product_of(solve));
    }
    if (std::ranges::none_of(solves, &Solve::is_running)) return;
    collective_iterate(thread, solves);
  }
}

SolveReport KrylovMethod::solve(std::span<const double> b, const Guess& guess) {
  const std::span<const double> from = guess.value_or(std::span<const double>());
  return std::move(solve(std::span(&b, 1), std::span(&from, guess ? 1 : 0)).front());
}

std::vector<SolveReport> KrylovMethod::solve(std::span<const std::span<const double>> b,
                                             std::span<const std::span<const double>> guesses) {
  timer_ = {};
  for (auto& asked : asked_) asked.store(Asked::nothing, std::memory_order_relaxed);
  if (options_.checkpoints) collective_open_checkpoints(b.front());
  if (options_.preconditioner) options_.preconditioner->begin_solve();
  std::vector<SolveReport> reports;
  const double cpu_before = operator_.comm_thread().cpu_seconds();
  const perfmodel::Stopwatch watch;
  operator_.team().run([&](const TeamThread& thread) {
    std::vector<Solve> solves;
    for (std::size_t i = 0; i < b.size(); ++i)
      solves.push_back({.column = static_cast<int>(i), .b = b[i], .rule = StopRule(stops_[i])});
    if (is_continued())
      collective_continue(thread, solves);
    else if (guesses.empty())
      collective_solve(thread, solves);
    else
      collective_solve_from(thread, solves, guesses);
    collective_verify(thread, solves);
    if (!thread.is_primary()) return;
    for (Solve& solve : solves) reports.push_back(std::move(solve.report));
  });
  for (SolveReport& report : reports) {
    report.vectors_at_once = width();
    report.solve_seconds = watch.seconds();
    report.comm_thread_cpu_seconds = operator_.comm_thread().cpu_seconds() - cpu_before;
    report.phases = timer_.times();
  }
  return reports;
}

}  // namespace weft::solver
