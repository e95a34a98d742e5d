#include "solver/krylov/block_cg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "perfmodel/stopwatch.h"
#include "solver/krylov/fused_vector_kernels.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/report/stop_rule.h"
#include "spmv/matrix/block_product.h"
#include "spmv/rows/interleave.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::BinnedSum;
using spmv::BlockRows;

namespace {

constexpr std::size_t most_width = Preconditioner::most_vectors;

}  // namespace

BlockCg::BlockCg(spmv::SparseOperator& op, Options options, int width)
    : op_(op),
      options_(std::move(options)),
      stops_(static_cast<std::size_t>(width), options_.stop),
      width_(width),
      diagonal_(options_.preconditioner ? options_.preconditioner->as_diagonal() : nullptr),
      norm_(op.collective_norm()),
      curvature_(op.communicator(), op.comm_thread(), op.team().thread_count(), width),
      residual_(op.communicator(), op.comm_thread(), op.team().thread_count(), 2 * width),
      squares_(op.communicator(), op.comm_thread(), op.team().thread_count(), width),
      fitted_(static_cast<std::size_t>(width), FittedSums(op, squares_)),
      block_(op.collective_make_block(width)),
      vectors_(static_cast<std::size_t>(width)),
      rooms_(static_cast<std::size_t>(op.team().thread_count())),
      largest_(rooms_.size() * vectors_.size()),
      bounds_(static_cast<std::size_t>(width)) {
  const auto make = [&](Array& array) {
    array = Array(op_.element_count());
    op_.team().run([&](const TeamThread& thread) {
      for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
        std::fill_n(array.data() + i, count, 0.0);
      });
    });
  };
  for (Vector& vector : vectors_) {
    for (Array* const array : {&vector.x, &vector.r, &vector.p, &vector.q}) make(*array);
    if (general()) make(vector.z);
  }
  const auto room_size =
      std::size_t{spmv::BlockProduct::piece_rows} * static_cast<std::size_t>(width);
  for (Array& room : rooms_) room = Array(room_size);
}

const double* BlockCg::inverse_diagonal(std::size_t begin) const {
  return diagonal_ ? diagonal_->inverse() + begin : nullptr;
}

std::vector<SolveReport> BlockCg::solve(std::span<const std::span<const double>> right_hand_sides,
                                        std::span<const std::span<const double>> guesses) {
  timer_ = {};
  const Run run{right_hand_sides, guesses};
  States result;
  if (options_.preconditioner) options_.preconditioner->begin_solve();
  const double cpu_before = op_.comm_thread().cpu_seconds();
  const perfmodel::Stopwatch watch;
  op_.team().run([&](const TeamThread& thread) {
    States states(static_cast<std::size_t>(width_));
    collective_solve(thread, run, states);
    if (thread.is_primary()) result = std::move(states);
  });
  std::vector<SolveReport> reports;
  for (State& state : result) {
    state.report.vectors_at_once = width_;
    state.report.solve_seconds = watch.seconds();
    state.report.comm_thread_cpu_seconds = op_.comm_thread().cpu_seconds() - cpu_before;
    state.report.phases = timer_.times();
    reports.push_back(std::move(state.report));
  }
  return reports;
}

void BlockCg::collective_solve(const TeamThread& thread, const Run& run, States& states) {
  if (run.guesses.empty()) {
    collective_squares(thread, run, false);  // leaves the bounds
    for (std::size_t v = 0; v < states.size(); ++v) {
      states[v].bound = bounds_[v];
      states[v].is_running = true;
      begin(thread, run, v, nullptr);
      for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
        std::fill_n(vectors_[v].x.data() + i, count, 0.0);
      });
    }
    thread.barrier();
    timer_.start(thread.index);
  } else {
    collective_start_at_guess(thread, run, states);
  }
  do {
    collective_iterate(thread, states);
  } while (collective_verify(thread, run, states));
}

/// As KrylovMethod does for one vector.
void BlockCg::collective_start_at_guess(const TeamThread& thread, const Run& run, States& states) {
  const std::vector<double> squares = collective_squares(thread, run, false);
  for (std::size_t v = 0; v < states.size(); ++v) {
    State& state = states[v];
    state.report = StopRule(stops_[v], std::sqrt(squares[v])).start(bounds_[v]);
    state.first_norm = std::sqrt(squares[v]);
    state.is_running = state.report.status != SolveStatus::breakdown && squares[v] != 0;
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      if (state.is_running)
        std::copy_n(run.guesses[v].data() + i, count, vectors_[v].x.data() + i);
      else
        std::fill_n(vectors_[v].x.data() + i, count, 0.0);
    });
  }
  thread.barrier();
  collective_multiply_solutions(thread);
  const std::vector<double> residuals = collective_squares(thread, run, true);
  timer_.start(thread.index);
  for (std::size_t v = 0; v < states.size(); ++v) {
    State& state = states[v];
    if (!state.is_running) continue;
    const double norm = std::sqrt(residuals[v]);
    state.report.status = SolveStatus::not_converged;
    state.report.recurrence_residual = norm / state.first_norm;
    state.bound = norm * norm;
    if (stops_[v].is_met(norm, state.first_norm)) {
      state.report.status = SolveStatus::converged;
      state.is_running = false;
    } else {
      begin(thread, run, v, vectors_[v].q.data());
    }
  }
  thread.barrier();
}

/// r = b - product, or b; forgets the directions. `product` may be q.
void BlockCg::begin(const TeamThread& thread, const Run& run, std::size_t v,
                    const double* product) {
  const double* const b = run.b[v].data();
  Vector& mine = vectors_[v];
  for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i)
      mine.r[i] = product ? b[i] - product[i] : b[i];
    std::fill_n(mine.p.data() + begin, count, 0.0);
    std::fill_n(mine.q.data() + begin, count, 0.0);
  });
}

/// ‖b − product‖² of each vector, product: q, or none; leaves the bounds of the squares. Every
/// thread.
std::vector<double> BlockCg::collective_squares(const TeamThread& thread, const Run& run,
                                                bool has_products) {
  const auto width = static_cast<std::size_t>(width_);
  const std::size_t mine = static_cast<std::size_t>(thread.index) * width;
  for (std::size_t v = 0; v < width; ++v) {
    const double* const b = run.b[v].data();
    const double* const product = vectors_[v].q.data();
    double largest = 0;
    for_each_segment(thread, [&](std::size_t begin, std::int64_t count) {
      for (std::size_t i = begin; i < begin + static_cast<std::size_t>(count); ++i) {
        const double value = std::abs(has_products ? b[i] - product[i] : b[i]);
        largest = value > largest || std::isnan(value) ? value : largest;
      }
    });
    largest_[mine + v] = largest;
  }
  thread.barrier();
  if (thread.is_primary()) {
    for (std::size_t v = 0; v < width; ++v) {
      double largest = 0;
      for (std::size_t i = v; i < largest_.size(); i += width)
        largest =
            std::isnan(largest_[i]) ? largest_[i] : (largest_[i] > largest ? largest_[i] : largest);
      const double all = op_.communicator().max(largest);
      bounds_[v] = all * all * static_cast<double>(op_.global_row_count());
      if (bounds_[v] == 0 && all > 0) bounds_[v] = std::numeric_limits<double>::min();
    }
  }
  thread.barrier();
  for (std::size_t v = 0; v < width; ++v) {
    BinnedSum squares(bounds_[v]);
    for_each_segment(thread, [&](std::size_t i, std::int64_t count) {
      if (has_products)
        add_difference_square(run.b[v].data() + i, vectors_[v].q.data() + i, count, squares);
      else
        add_square(run.b[v].data() + i, count, squares);
    });
    squares.flush(squares_.part(thread.index, static_cast<int>(v)));
  }
  squares_.collective_reduce(thread);
  std::vector<double> results;
  for (int v = 0; v < width_; ++v) results.push_back(squares_.result(v));
  return results;
}

/// Copies this thread's entries of an array of all vectors to the block.
void BlockCg::interleave(std::size_t begin, std::int64_t count, Array Vector::* array) {
  std::array<const double*, most_width> from{};
  const auto width = static_cast<std::size_t>(width_);
  for (std::size_t v = 0; v < width; ++v) from[v] = (vectors_[v].*array).data() + begin;
  spmv::interleave(std::span(from).first(width), static_cast<std::size_t>(count),
                   block_->values() + begin * width);
}

/// Copies rows of a product to q.
void BlockCg::take(const BlockRows& rows) {
  std::array<double*, most_width> to{};
  const auto width = static_cast<std::size_t>(width_);
  for (std::size_t v = 0; v < width; ++v) to[v] = vectors_[v].q.data() + rows.begin;
  spmv::separate(rows.y, static_cast<std::size_t>(rows.end - rows.begin),
                 std::span(to).first(width));
}

void BlockCg::multiply_block(const TeamThread& thread, const spmv::OnBlockRows& on_rows,
                             perfmodel::PhaseTimer& timer) {
  op_.apply_block(thread, options_.mode, *block_,
                  {rooms_[static_cast<std::size_t>(thread.index)].data(), true}, on_rows, timer);
}

/// q = A·x. Every thread; ends with a barrier.
void BlockCg::collective_multiply_solutions(const TeamThread& thread) {
  for_each_segment(thread,
                   [&](std::size_t i, std::int64_t count) { interleave(i, count, &Vector::x); });
  perfmodel::PhaseTimer not_reported;
  multiply_block(
      thread, [this](const TeamThread&, const BlockRows& rows) { take(rows); }, not_reported);
  thread.barrier();
}

/// Compares the recurrences with the true residuals; true where some vectors begin again. Every
/// thread.
bool BlockCg::collective_verify(const TeamThread& thread, const Run& run, States& states) {
  collective_multiply_solutions(thread);
  const std::vector<double> squares = collective_squares(thread, run, true);
  bool is_any_running = false;
  for (std::size_t v = 0; v < states.size(); ++v) {
    State& state = states[v];
    if (state.is_over) continue;
    const double norm = std::sqrt(squares[v]);
    state.is_running = StopRule(stops_[v], state.first_norm).must_begin_again(norm, state.report);
    state.is_over = !state.is_running;
    if (!state.is_running) continue;
    is_any_running = true;
    state.bound = norm * norm;
    begin(thread, run, v, vectors_[v].q.data());
  }
  thread.barrier();
  return is_any_running;
}

}  // namespace weft::solver
