#include "solver/eigen/two_pass_lanczos.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "perfmodel/simd.h"
#include "perfmodel/stopwatch.h"
#include "solver/direct/tridiagonal_end.h"
#include "solver/panels/panel_column.h"
#include "solver/panels/powers_of_two.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/partition.h"
#include "spmv/sums/block_dot.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// next = of_product·product − of_last·last − of_before·next. Reads 24 and writes 8 bytes a value.
void make_next(const double* product, const double* last, double of_product, double of_last,
               double of_before, std::int64_t count, double* next) {
  perfmodel::on_widest_simd([=]() __attribute__((always_inline)) {
    for (std::int64_t i = 0; i < count; ++i)
      next[i] = of_product * product[i] - of_last * last[i] - of_before * next[i];
  });
}

/// y += factor·x. Reads 16 and writes 8 bytes a value.
void add(const double* x, double factor, std::int64_t count, double* y) {
  perfmodel::on_widest_simd([=]() __attribute__((always_inline)) {
    for (std::int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
  });
}

}  // namespace

TwoPassLanczos::TwoPassLanczos(spmv::SparseOperator& op, const EigenOptions& options,
                               SearchHooks hooks)
    : op_(op),
      options_(options),
      unit_(power_above(op.collective_norm())),
      block_rows_(spmv::RowPartition::block_size(op.global_row_count())),
      even_(op.collective_make_vector()),
      odd_(op.collective_make_vector()),
      product_(op.element_count()),
      result_(op.element_count()),
      sum_(op.communicator(), op.comm_thread(), op.team().thread_count(), 1),
      keeper_(std::move(hooks), op) {}

std::size_t TwoPassLanczos::most_steps() const {
  return static_cast<std::size_t>(options_.max_iterations) * steps_of_iteration;
}

/// u_0, a hash of each row; and zero in the place of what was before.
void TwoPassLanczos::start(const TeamThread& thread) {
  op_.for_each_element(thread.index, [&](std::size_t row) {
    even_->values()[row] = 2 * spmv::uniform(0, op_.global_row(row)) - 1;
    odd_->values()[row] = 0;
    result_.data()[row] = 0;
  });
}

/// Σ vector², into `sum_`.
void TwoPassLanczos::collective_sum_squares(const TeamThread& thread, const double* vector) {
  op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t rows) {
    for (std::int64_t row = 0; row < rows; row += block_rows_) {
      const double* const block = vector + begin + row;
      sum_.part(thread.index).add(spmv::block_dot(block, block, std::min(block_rows_, rows - row)));
    }
  });
  sum_.collective_reduce(thread);
}

/// u of the next step from the product with that of `step`; adds `share` of the latter to the
/// result, unless that is 0. Rows go block by block, while they are in cache.
void TwoPassLanczos::advance(const TeamThread& thread, std::size_t step, double share) {
  const double* const last = vector_of(step).values();
  double* const next = vector_of(step + 1).values();
  const double norm = betas_[step];
  const double of_before = step > 0 ? norm / betas_[step - 1] : 0.0;
  op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t rows) {
    for (std::int64_t row = 0; row < rows; row += block_rows_) {
      const std::size_t at = begin + static_cast<std::size_t>(row);
      const std::int64_t count = std::min(block_rows_, rows - row);
      make_next(product_.data() + at, last + at, 1 / norm / unit_, alphas_[step] / norm, of_before,
                count, next + at);
      if (share != 0) add(last + at, share / norm, count, result_.data() + at);
    }
  });
}

/// A step of the first pass.
void TwoPassLanczos::collective_step(const TeamThread& thread) {
  const std::size_t step = last_step();
  op_.apply(thread, options_.mode, vector_of(step), product_.data(), timer_,
            {.part = &sum_.part(thread.index)});
  sum_.collective_reduce(thread);
  if (thread.is_primary()) alphas_.push_back(sum_.result() / unit_ / betas_.back() / betas_.back());
  thread.barrier();
  advance(thread, step, 0);
  collective_sum_squares(thread, vector_of(step + 1).values());
  if (thread.is_primary()) betas_.push_back(std::sqrt(sum_.result()));
  thread.barrier();
}

/// The same step of the second pass.
void TwoPassLanczos::repeat_step(const TeamThread& thread, std::size_t step, double share) {
  op_.apply(thread, options_.mode, vector_of(step), product_.data(), timer_, {});
  advance(thread, step, share);
  thread.barrier();
}

/// True if the residual of the wanted Ritz pair is within the tolerance; then `shares_` are those
/// of its vector.
bool TwoPassLanczos::is_found() {
  const auto size = static_cast<int>(alphas_.size());
  const std::span<const double> beside = std::span(betas_).subspan(1);
  const bool is_smallest = options_.end == SpectrumEnd::smallest;
  TridiagonalPair pair = tridiagonal_pair(alphas_, beside, is_smallest ? 0 : size - 1);
  const double other = tridiagonal_value(alphas_, beside, is_smallest ? size - 1 : 0);
  norm_ = std::max(std::abs(pair.value), std::abs(other));
  next_ = size > 1 ? tridiagonal_value(alphas_, beside, is_smallest ? 1 : size - 2) : other;
  const double rest = betas_.back() * std::abs(pair.vector.back());
  shares_ = std::move(pair.vector);
  constexpr double rounding = 1e-14;
  is_invariant_ = !(betas_.back() > rounding * norm_);
  return is_invariant_ || rest <= 0.7 * options_.tolerance * norm_;
}

/// The vector to begin with, and its norm, or the state of a checkpoint.
void TwoPassLanczos::collective_begin() {
  if (collective_take_state()) return;
  op_.team().run([&](const TeamThread& thread) {
    start(thread);
    collective_sum_squares(thread, even_->values());
    if (thread.is_primary()) betas_.push_back(std::sqrt(sum_.result()));
    thread.barrier();
  });
}

/// After some steps: true if the search is to end.
bool TwoPassLanczos::collective_ends_steps(bool is_over, bool keeps) {
  std::function<SearchState()> make_state;
  if (keeps) make_state = [this] { return state(); };
  const auto step = static_cast<std::int64_t>(last_step() + repeated_);
  is_stopped_ = keeper_.collective_ends(step, is_over, make_state);
  return is_stopped_;
}

/// Goes on until the pair is found, or steps are used up, or it is stopped.
void TwoPassLanczos::collective_first_pass() {
  while (!has_found_ && last_step() < most_steps()) {
    op_.team().run([&](const TeamThread& thread) {
      for (int step = 0; step < steps_of_iteration && betas_.back() > 0; ++step)
        collective_step(thread);
    });
    has_found_ = is_found();
    if (!has_found_ && collective_ends_steps(last_step() >= most_steps(), true)) return;
  }
}

/// Repeats what there is of the first pass. Its state is kept where the pair is found: otherwise
/// that of the first pass can go on.
void TwoPassLanczos::collective_second_pass() {
  while (repeated_ < shares_.size()) {
    const std::size_t end = std::min(shares_.size(), repeated_ + steps_of_iteration);
    op_.team().run([&](const TeamThread& thread) {
      if (repeated_ == 0) {
        start(thread);
        thread.barrier();
      }
      for (std::size_t step = repeated_; step < end; ++step)
        repeat_step(thread, step, shares_[step]);
    });
    repeated_ = end;
    if (repeated_ < shares_.size() && collective_ends_steps(false, has_found_)) return;
  }
}

/// The Rayleigh quotient of the result, and its residual; both from a product with it.
EigenPair TwoPassLanczos::collective_true_pair() {
  std::copy_n(result_.data(), op_.element_count(), even_->values());
  EigenPair pair;
  op_.team().run([&](const TeamThread& thread) {
    collective_sum_squares(thread, even_->values());
    const double square = sum_.result();
    op_.apply(thread, options_.mode, *even_, product_.data(), timer_,
              {.part = &sum_.part(thread.index)});
    sum_.collective_reduce(thread);
    const double value = sum_.result() / unit_ / square;
    op_.for_each_element(thread.index, [&](std::size_t row) {
      odd_->values()[row] = product_.data()[row] / unit_ - value * even_->values()[row];
    });
    thread.barrier();
    collective_sum_squares(thread, odd_->values());
    if (!thread.is_primary()) return;
    pair.value = value * unit_;
    pair.residual = std::sqrt(sum_.result() / square) * unit_;
    factor_ = 1 / std::sqrt(square);
  });
  return pair;
}

EigenReport TwoPassLanczos::report_of(const EigenPair& pair) const {
  EigenReport report{.method = name(EigenMethod::lanczos_two_pass),
                     .status = pair.residual <= options_.tolerance * norm_ * unit_
                                   ? SolveStatus::converged
                                   : SolveStatus::not_converged,
                     .explanation = "",
                     .pairs = {pair},
                     .norm = norm_ * unit_,
                     .products = 2 * static_cast<std::int64_t>(shares_.size()) + 1,
                     .restarts = static_cast<int>(shares_.size()),
                     .width = 1,
                     .subspace = 2};
  if (!is_invariant_) report.next.push_back({next_ * unit_, 0, 0});
  return report;
}

EigenReport TwoPassLanczos::collective_solve() {
  const perfmodel::Stopwatch watch;
  collective_begin();
  collective_first_pass();
  if (!is_stopped_) collective_second_pass();
  const bool has_pair = !is_stopped_ && last_step() > 0;
  EigenPair pair;
  if (has_pair) pair = collective_true_pair();
  pair.error_bound = pair.residual;
  EigenReport report = report_of(pair);
  if (!has_pair) {
    report.status = is_stopped_ ? SolveStatus::stopped : SolveStatus::not_converged;
    report.pairs.clear();
    report.next.clear();
    report.products = static_cast<std::int64_t>(last_step() + repeated_);
  }
  report.seconds = watch.seconds();
  return report;
}

std::vector<double> TwoPassLanczos::collective_vector() const {
  return collective_signed_column(op_, result_.data(), 1, 0, factor_);
}

}  // namespace weft::solver
