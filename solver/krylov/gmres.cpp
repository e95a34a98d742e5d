#include "solver/krylov/gmres.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "solver/krylov/fused_vector_kernels.h"
#include "solver/krylov/inverse_diagonal.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using perfmodel::Phase;
using spmv::BinnedSum;

constexpr std::int64_t block_size = 512;  // elements; with 31 columns half of a second-level cache
/// ‖A·v‖ may exceed ‖A‖∞ where A is not symmetric.
constexpr double room_above_norm = 1024;
/// Less of a vector than this is rounding.
constexpr double least_share = 16 * std::numeric_limits<double>::epsilon();
/// The second projection takes next to nothing from a vector that is not rounding.
constexpr double least_share_kept = 0.1;
constexpr double stagnation = 1 - 1e-8;

/// Calls work(first element, count) for blocks that stay in cache.
template <class Work>
void for_each_block(std::size_t begin, std::int64_t count, const Work& work) {
  for (std::int64_t i = 0; i < count; i += block_size)
    work(begin + static_cast<std::size_t>(i), std::min(block_size, count - i));
}

void add_multiple(double factor, const double* v, double* w, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) w[i] += factor * v[i];
}

}  // namespace

Gmres::ThreadState::ThreadState(std::size_t restart)
    : projected(restart), column(restart + 1), correction(restart) {}

Gmres::Gmres(spmv::LinearOperator& op, Options options)
    : KrylovMethod(op, std::move(options)),
      norm_(op.collective_norm()),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(),
            this->options().restart + 1),
      states_(static_cast<std::size_t>(op.team().thread_count()),
              ThreadState(static_cast<std::size_t>(this->options().restart))),
      z_(collective_make_operand()) {
  if (this->options().inverse) {
    inverse_norm_ = this->options().inverse->norm();
  } else if (this->options().preconditioner == Preconditioner::jacobi) {
    inverse_diagonal_ = collective_invert_diagonal(op, 1, "the preconditioner jacobi");
    inverse_norm_ = collective_largest(op, inverse_diagonal_.span());
  }
  for (int i = 0; i <= this->options().restart; ++i) basis_.push_back(make_array());
  for (ThreadState& state : states_) state.sums.reserve(basis_.size());
}

/// V: 3·8 bytes a column; w: 40, M: 24, A: 24; and at the end of a cycle V once more and about 100.
double Gmres::vector_bytes() const {
  const double restart = options().restart;
  return 24 * (restart + 1) / 2 + 96 + 100 / restart;
}

/// z = M·v.
void Gmres::collective_precondition(const TeamThread& thread, const Array& v) {
  double* const z = z_->values();
  if (options().inverse) {
    thread.barrier();
    options().inverse->apply(thread, v.data(), z);
  } else {
    for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
      for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i)
        z[i] = inverse_diagonal_.data() ? inverse_diagonal_[i] * v[i] : v[i];
    });
  }
  timer_.lap(thread.index, Phase::vector_update);
}

/// Sums up the first `count` of the state's sums.
void Gmres::collective_sum(const TeamThread& thread, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    state(thread).sums[i].flush(sums_.part(thread.index, static_cast<int>(i)));
  timer_.lap(thread.index, Phase::vector_update);
  sums_.collective_reduce(thread);
  timer_.lap(thread.index, Phase::reduction);
}

double Gmres::collective_square(const TeamThread& thread, const Array& v, double bound) {
  std::vector<BinnedSum>& sums = state(thread).sums;
  sums.assign(1, BinnedSum(bound));
  for_each_segment(
      thread, [&](std::size_t i, std::int64_t count) { add_square(v.data() + i, count, sums[0]); });
  collective_sum(thread, 1);
  return sums_.result(0);
}

/// Makes vector k orthogonal to those before, and of length 1; column k - 1 of H is what was taken
/// from it, and its length. False where nothing is left of it but rounding.
bool Gmres::collective_orthogonalise(const TeamThread& thread, std::size_t k) {
  ThreadState& own = state(thread);
  double* const w = basis_[k].data();
  const double bound = room_above_norm * norm_ * inverse_norm_;
  own.sums.assign(k, BinnedSum(bound));
  own.sums.emplace_back(bound * norm_ * inverse_norm_);
  for_each_segment(thread, [&](std::size_t begin, std::int64_t size) {
    for_each_block(begin, size, [&](std::size_t i, std::int64_t count) {
      for (std::size_t j = 0; j < k; ++j)
        add_product(basis_[j].data() + i, w + i, count, own.sums[j]);
      add_square(w + i, count, own.sums[k]);
    });
  });
  collective_sum(thread, k + 1);
  const double square = sums_.result(static_cast<int>(k));
  for (std::size_t j = 0; j < k; ++j) own.column[j] = sums_.result(static_cast<int>(j));

  own.sums.assign(k, BinnedSum(std::sqrt(square)));
  own.sums.emplace_back(square);
  for_each_segment(thread, [&](std::size_t begin, std::int64_t size) {
    for_each_block(begin, size, [&](std::size_t i, std::int64_t count) {
      for (std::size_t j = 0; j < k; ++j)
        add_multiple(-own.column[j], basis_[j].data() + i, w + i, count);
      for (std::size_t j = 0; j < k; ++j)
        add_product(basis_[j].data() + i, w + i, count, own.sums[j]);
      add_square(w + i, count, own.sums[k]);
    });
  });
  collective_sum(thread, k + 1);
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
  const double scale = 1 / own.column[k];
  for_each_segment(thread, [&](std::size_t begin, std::int64_t size) {
    for_each_block(begin, size, [&](std::size_t i, std::int64_t count) {
      for (std::size_t j = 0; j < k; ++j)
        add_multiple(-own.correction[j], basis_[j].data() + i, w + i, count);
      for (std::size_t e = i; e < i + static_cast<std::size_t>(count); ++e) basis_[k][e] *= scale;
    });
  });
  timer_.lap(thread.index, Phase::vector_update);
  return true;
}

/// Iterates from the residual in basis_[0], whose norm is `norm`, until the space is full, or the
/// residual small, or nothing new is found. Leaves y in the state.
void Gmres::collective_cycle(const TeamThread& thread, double norm, double first_norm,
                             SolveReport& report) {
  ThreadState& own = state(thread);
  own.projected.start(norm);
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i)
      basis_[0][i] /= norm;
  });
  for (std::size_t k = 1; k < basis_.size() && report.status == SolveStatus::not_converged &&
                          report.iterations < options().stop.max_iterations;
       ++k) {
    collective_precondition(thread, basis_[k - 1]);
    op().apply(thread, options().mode, *z_, basis_[k].data(), timer_, {});
    thread.barrier();
    const bool is_new = collective_orthogonalise(thread, k);
    ++report.iterations;
    const bool is_taken = own.projected.append(std::span(own.column).first(k + 1));
    note(thread, own.projected.residual_norm(), first_norm, report);
    if (!is_new || !is_taken) break;
  }
}

/// x += M·V·y; basis_[0] = b - A·x, whose norm it returns. `norm`: before the cycle.
double Gmres::collective_correct(const TeamThread& thread, std::span<const double> b, double norm) {
  const std::span<const double> y = state(thread).projected.solve();
  Array& sum = basis_.back();  // V has one less column
  for_each_segment(thread, [&](std::size_t begin, std::int64_t size) {
    for_each_block(begin, size, [&](std::size_t i, std::int64_t count) {
      std::fill_n(sum.data() + i, count, 0.0);
      for (std::size_t j = 0; j < y.size(); ++j)
        add_multiple(y[j], basis_[j].data() + i, sum.data() + i, count);
    });
  });
  collective_precondition(thread, sum);
  double* const z = z_->values();
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i) {
      x_[i] += z[i];
      z[i] = x_[i];
    }
  });
  timer_.lap(thread.index, Phase::vector_update);
  op().apply(thread, options().mode, *z_, basis_[0].data(), timer_, {});
  thread.barrier();
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i)
      basis_[0][i] = b[i] - basis_[0][i];
  });
  return std::sqrt(collective_square(thread, basis_[0], norm * norm));
}

/// Every thread computes the same `report`.
SolveReport Gmres::solve_in_team(const TeamThread& thread, std::span<const double> b) {
  const double bound = collective_bound_square(thread, b);
  for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
    std::fill_n(x_.data() + i, count, 0.0);
    std::copy_n(b.data() + i, count, basis_[0].data() + i);
  });
  timer_.start(thread.index);
  double norm = std::sqrt(collective_square(thread, basis_[0], bound));
  const double first_norm = norm;
  SolveReport report = start_report(norm * norm, bound);
  while (report.status == SolveStatus::not_converged &&
         report.iterations < options().stop.max_iterations) {
    report.restarts += report.iterations > 0;
    collective_cycle(thread, norm, first_norm, report);
    const bool is_cut = report.status == SolveStatus::not_converged &&
                        report.iterations == options().stop.max_iterations;
    const double before = std::exchange(norm, collective_correct(thread, b, norm));
    report.recurrence_residual = norm / first_norm;
    report.status = options().stop.is_met(norm, first_norm) ? SolveStatus::converged
                                                            : SolveStatus::not_converged;
    if (report.status == SolveStatus::converged || is_cut || norm < stagnation * before) continue;
    report.status = SolveStatus::breakdown;
    report.explanation = fmt::format(
        "a cycle of {} iterations took the residual from {:.3g} to {:.3g} of the first: it wants "
        "longer cycles, or the matrix is singular, or nothing but rounding is left",
        options().restart, before / first_norm, norm / first_norm);
  }
  return report;
}

}  // namespace weft::solver
