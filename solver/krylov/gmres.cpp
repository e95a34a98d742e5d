#include "solver/krylov/gmres.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "solver/krylov/fused_vector_kernels.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using perfmodel::Phase;
using perfmodel::PhaseScope;
using spmv::BinnedSum;

constexpr std::int64_t block_size = 512;  // elements; with 31 columns half of a second-level cache
/// Less of a vector than this is rounding.
constexpr double least_share = 16 * std::numeric_limits<double>::epsilon();
/// The second projection takes next to nothing from a vector that is not rounding.
constexpr double least_share_kept = 0.1;
constexpr double stagnation = 1 - 1e-8;

void add_multiple(double factor, const double* v, double* w, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) w[i] += factor * v[i];
}

}  // namespace

/// Calls work(first element, count) for blocks of this thread's elements that stay in cache.
template <class Work>
void Gmres::for_each_block(const TeamThread& thread, const Work& work) const {
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += block_size)
      work(begin + static_cast<std::size_t>(i), std::min(block_size, count - i));
  });
}

Gmres::ThreadState::ThreadState(std::size_t restart)
    : projected(restart), column(restart + 1), correction(restart) {}

Gmres::Gmres(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      norm_(op.collective_norm()),
      sums_(collective_make_sum(this->options().restart + 1)),
      states_(static_cast<std::size_t>(op.team().thread_count()),
              ThreadState(static_cast<std::size_t>(this->options().restart))),
      z_(collective_make_operand()) {
  for (int i = 0; i <= this->options().restart; ++i) basis_.push_back(make_array());
  for (ThreadState& state : states_) state.sums.reserve(basis_.size());
}

/// V: 3·8 bytes a column; w: 40, M: 24, A: 24; and at the end of a cycle V once more and about 100.
/// Flops: 8 for each of (m + 1)/2 columns, with Gram-Schmidt twice.
MethodNeeds Gmres::needs_of(const std::string& name, const MethodUse& use) {
  const double restart = use.restart;
  return {.state = name + "(" + std::to_string(use.restart) + ")",
          .arrays = restart + 3,  // V, z and x
          .carried = 1,
          .vector_bytes = 24 * (restart + 1) / 2 + 96 + 100 / restart,
          .flops_per_row = 4 * (restart + 1) + (use.is_diagonal() ? 8 : 7),
          .flops_per_nonzero = facts.flops_per_nonzero};
}

/// z = M·v.
void Gmres::collective_apply(const TeamThread& thread, const Array& v) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  if (general()) {
    thread.barrier();
    return general()->apply(thread, v.data(), z_->values());
  }
  copy(thread, v.data(), z_->values());
  scale(thread, z_->values());
}

void Gmres::collective_precondition(const TeamThread& thread, std::size_t k) {
  collective_apply(thread, basis_[k]);
}

void Gmres::add_up(const TeamThread& thread, std::span<const double> y,
                   const std::vector<Array>& vectors, double* to) {
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  for_each_block(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(to + i, count, 0.0);
    for (std::size_t j = 0; j < y.size(); ++j)
      add_multiple(y[j], vectors[j].data() + i, to + i, count);
  });
}

void Gmres::collective_combine(const TeamThread& thread, std::span<const double> y) {
  Array& sum = basis_.back();  // V has one less column
  add_up(thread, y, basis_, sum.data());
  collective_apply(thread, sum);
}

/// Calls work(first element, count) for this thread's blocks, which adds to the state's sums, and
/// reduces the first `count` of those.
template <class Work>
void Gmres::collective_sum(const TeamThread& thread, std::size_t count, const Work& work) {
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    for_each_block(thread, work);
    for (std::size_t i = 0; i < count; ++i)
      state(thread).sums[i].flush(sums_.part(thread.index, static_cast<int>(i)));
  }
  collective_reduce(thread, sums_);
}

double Gmres::collective_square_of(const TeamThread& thread, const Array& v, double bound) {
  std::vector<BinnedSum>& sums = state(thread).sums;
  sums.assign(1, BinnedSum(bound));
  collective_sum(thread, 1, [&](std::size_t i, std::int64_t count) {
    add_square(v.data() + i, count, sums[0]);
  });
  return sums_.result(0);
}

/// The products of vector k with those before it, and with itself as number k, after
/// change(first element, count) has changed it.
template <class Change>
void Gmres::collective_project(const TeamThread& thread, std::size_t k, double bound,
                               double square_bound, const Change& change) {
  std::vector<BinnedSum>& sums = state(thread).sums;
  const double* const w = basis_[k].data();
  sums.assign(k, BinnedSum(bound));
  sums.emplace_back(square_bound);
  collective_sum(thread, k + 1, [&](std::size_t i, std::int64_t count) {
    change(i, count);
    for (std::size_t j = 0; j < k; ++j) add_product(basis_[j].data() + i, w + i, count, sums[j]);
    add_square(w + i, count, sums[k]);
  });
}

/// Makes vector k orthogonal to those before, and of length 1; column k - 1 of H is what was taken
/// from it, and its length. False where nothing is left of it but rounding.
bool Gmres::collective_orthogonalise(const TeamThread& thread, std::size_t k) {
  ThreadState& own = state(thread);
  double* const w = basis_[k].data();
  const double bound = room_above_norm * norm_ * preconditioner_norm();
  collective_project(thread, k, bound, bound * norm_ * preconditioner_norm(),
                     [](std::size_t, std::int64_t) {});
  const double square = sums_.result(static_cast<int>(k));
  for (std::size_t j = 0; j < k; ++j) own.column[j] = sums_.result(static_cast<int>(j));

  collective_project(thread, k, std::sqrt(square), square, [&](std::size_t i, std::int64_t count) {
    for (std::size_t j = 0; j < k; ++j)
      add_multiple(-own.column[j], basis_[j].data() + i, w + i, count);
  });
  const double projected_square = sums_.result(static_cast<int>(k));
  double rest = projected_square;
  for (std::size_t j = 0; j < k; ++j) {
    own.correction[j] = sums_.result(static_cast<int>(j));
    own.column[j] += own.correction[j];
    rest -= own.correction[j] * own.correction[j];
  }
  const bool is_left = rest > least_share_kept * least_share_kept * projected_square &&
                       rest > least_share * least_share * square;
  own.column[k] = is_left ? std::sqrt(rest) : 0;
  if (!is_left) return false;
  const double factor = 1 / own.column[k];
  const PhaseScope scope(timer_, thread.index, Phase::vector_update);
  for_each_block(thread, [&](std::size_t i, std::int64_t count) {
    for (std::size_t j = 0; j < k; ++j)
      add_multiple(-own.correction[j], basis_[j].data() + i, w + i, count);
    for (std::size_t e = i; e < i + static_cast<std::size_t>(count); ++e) w[e] *= factor;
  });
  return true;
}

/// Iterates from the residual in basis_[0], whose norm is `norm`, until the space is full, or the
/// residual small, or nothing new is found. Leaves y in the state.
void Gmres::collective_cycle(const TeamThread& thread, double norm, Solve& solve) {
  ThreadState& own = state(thread);
  SolveReport& report = solve.report;
  Solve start = solve;  // what a checkpoint takes
  report.restarts += report.iterations > 0;
  own.projected.start(norm);
  for_each_element(thread, [&](std::size_t i) { basis_[0][i] /= norm; });
  for (std::size_t k = 1; k < basis_.size() && solve.goes_on(); ++k) {
    collective_precondition(thread, k - 1);
    collective_multiply(thread, *z_, basis_[k].data());
    thread.barrier();
    const bool is_new = collective_orthogonalise(thread, k);
    ++report.iterations;
    const bool is_taken = own.projected.append(std::span(own.column).first(k + 1));
    note(thread, own.projected.residual_norm(), solve);
    if (is_checkpoint_due(report)) collective_carry(thread, Carry::keep, start, {&norm}, carried());
    if (!is_new || !is_taken) break;
  }
}

/// x += M·V·y; basis_[0] = b - A·x, whose norm it returns. `norm`: before the cycle.
double Gmres::collective_correct(const TeamThread& thread, std::span<const double> b, double norm) {
  collective_combine(thread, state(thread).projected.solve());
  {
    const PhaseScope scope(timer_, thread.index, Phase::vector_update);
    double* const z = z_->values();
    for_each_element(thread, [&](std::size_t i) {
      x_[i] += z[i];
      z[i] = x_[i];
    });
  }
  collective_multiply(thread, *z_, basis_[0].data());
  thread.barrier();
  subtract(thread, b, basis_[0].data(), basis_[0].data());
  return std::sqrt(collective_square_of(thread, basis_[0], norm * norm));
}

/// x and basis_[0] as they were at the start of a cycle; returns the norm of the second.
double Gmres::collective_restore(const TeamThread& thread, Solve& solve) {
  double norm = 0;
  collective_carry(thread, Carry::restore, solve, {&norm}, carried());
  copy(thread, x_.data(), z());
  collective_multiply(thread, *z_, basis_[0].data());
  thread.barrier();
  collective_begin(thread, solve, basis_[0].data());
  return norm;
}

void Gmres::collective_begin(const TeamThread& thread, const Solve& solve, const double* product) {
  subtract(thread, solve.b, product, basis_[0].data());
  thread.barrier();
}

void Gmres::collective_iterate(const TeamThread& thread, Solves solves) {
  Solve& solve = solves.front();
  SolveReport& report = solve.report;
  const StopRule& rule = solve.rule;
  double norm = is_continued() ? collective_restore(thread, solve)
                               : std::sqrt(collective_square_of(thread, basis_[0], solve.bound));
  solve.know_first_norm(norm);
  while (solve.goes_on()) {
    const std::int64_t iterations_before = report.iterations;
    collective_cycle(thread, norm, solve);
    const bool is_cut = report.status == SolveStatus::not_converged &&
                        report.iterations == rule.criterion().max_iterations;
    const double before = std::exchange(norm, collective_correct(thread, solve.b, norm));
    report.recurrence_residual = rule.relative(norm);
    if (rule.is_met(norm))
      report.status = SolveStatus::converged;
    else if (report.status == SolveStatus::converged)
      report.status = SolveStatus::not_converged;
    if (report.status != SolveStatus::not_converged || is_cut || norm < stagnation * before)
      continue;
    report.status = SolveStatus::breakdown;
    const std::int64_t cycle_iterations = report.iterations - iterations_before;
    report.explanation = fmt::format(
        "a cycle of {} iteration{} took the residual from {:.3g} to {:.3g} of the first: it wants "
        "longer cycles, or the matrix is singular, or nothing but rounding is left",
        cycle_iterations, cycle_iterations == 1 ? "" : "s", rule.relative(before),
        rule.relative(norm));
  }
}

}  // namespace weft::solver
