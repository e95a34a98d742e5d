#include "solver/spectrum/chebyshev_moments.h"

#include <algorithm>
#include <array>
#include <functional>

#include "perfmodel/simd.h"
#include "spmv/matrix/block_product.h"
#include "spmv/rows/partition.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// Products between two reductions: none waits for one, and a message a product is saved.
constexpr int steps_at_once = 16;
/// A square of t_k may exceed that of t_0 by rounding only, while the interval holds the spectrum.
constexpr double most_growth = 1.001;
constexpr std::size_t most_width = 16;

/// next = factor·(product − center·last) − before, or without before. Reads 24 and writes 8 bytes a
/// value.
void advance(const double* product, const double* last, double center, double factor,
             bool has_before, std::int64_t count, double* next) {
  perfmodel::on_widest_simd([=]() __attribute__((always_inline)) {
    if (has_before)
      for (std::int64_t i = 0; i < count; ++i)
        next[i] = factor * (product[i] - center * last[i]) - next[i];
    else
      for (std::int64_t i = 0; i < count; ++i) next[i] = factor * (product[i] - center * last[i]);
  });
}

/// ⟨next, last⟩ and ⟨next, next⟩ of each vector of a block.
struct BlockDots {
  std::array<double, most_width> with_last{};
  std::array<double, most_width> with_itself{};
};

/// Both dots over one row block: row i of the block goes to accumulator i mod 4, and at the end
/// (0 + 1) + (2 + 3), whatever the width and the instruction set. Reads 16 bytes and does 4 flops a
/// value; four accumulators hide the latency of the addition.
template <class Simd, int width>
[[gnu::always_inline]] inline void sum_columns(const double* last, const double* next,
                                               std::int64_t rows, BlockDots& dots) {
  constexpr int register_size = Simd::register_bytes / 8;
  constexpr int group = width < register_size ? width : register_size;  // columns at once
  using Lanes = typename Simd::template Lanes<double, group>;
  for (int column = 0; column < width; column += group) {
    Lanes with_last[4] = {};
    Lanes with_itself[4] = {};
    const auto add = [&](std::int64_t row, auto place) __attribute__((always_inline)) {
      const Lanes value = Lanes::load(next + row * width + column);
      with_last[place] += value * Lanes::load(last + row * width + column);
      with_itself[place] += value * value;
    };
    std::int64_t row = 0;
    for (; row + 4 <= rows; row += 4)
      perfmodel::unrolled<4>([&](auto place)
                                 __attribute__((always_inline)) { add(row + place, place); });
    perfmodel::unrolled<3>([&](auto place) __attribute__((always_inline)) {
      if (row + place < rows) add(row + place, place);
    });
    ((with_last[0] + with_last[1]) + (with_last[2] + with_last[3]))
        .store(dots.with_last.data() + column);
    ((with_itself[0] + with_itself[1]) + (with_itself[2] + with_itself[3]))
        .store(dots.with_itself.data() + column);
  }
}

/// The same for one vector, whose accumulators are lanes.
template <class Simd>
[[gnu::always_inline]] inline void sum_column(const double* last, const double* next,
                                              std::int64_t rows, BlockDots& dots) {
  using Lanes = typename Simd::template Lanes<double, 4>;
  Lanes with_last{};
  Lanes with_itself{};
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const Lanes value = Lanes::load(next + row);
    with_last += value * Lanes::load(last + row);
    with_itself += value * value;
  }
  std::array<double, 4> a{};
  std::array<double, 4> b{};
  with_last.store(a.data());
  with_itself.store(b.data());
  for (std::size_t lane = 0; row < rows; ++row, ++lane) {
    a[lane] += next[row] * last[row];
    b[lane] += next[row] * next[row];
  }
  dots.with_last[0] = (a[0] + a[1]) + (a[2] + a[3]);
  dots.with_itself[0] = (b[0] + b[1]) + (b[2] + b[3]);
}

BlockDots dots_of(int width, const double* last, const double* next, std::int64_t rows) {
  BlockDots dots;
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    switch (width) {
      case 1:
        return sum_column<Simd>(last, next, rows, dots);
      case 2:
        return sum_columns<Simd, 2>(last, next, rows, dots);
      case 4:
        return sum_columns<Simd, 4>(last, next, rows, dots);
      case 8:
        return sum_columns<Simd, 8>(last, next, rows, dots);
      default:
        return sum_columns<Simd, 16>(last, next, rows, dots);
    }
  });
  return dots;
}

}  // namespace

ChebyshevMoments::ChebyshevMoments(spmv::SparseOperator& op, int width, spmv::Mode mode)
    : op_(op),
      width_(width),
      mode_(mode),
      block_rows_(spmv::RowPartition::block_size(op.global_row_count())),
      even_(op.collective_make_vector(width)),
      odd_(op.collective_make_vector(width)),
      sums_(op.communicator(), op.comm_thread(), op.team().thread_count(),
            steps_at_once * 2 * width) {
  const std::size_t threads = width == 1 ? 1 : static_cast<std::size_t>(op.team().thread_count());
  const std::size_t rows =
      width == 1 ? op.element_count() : static_cast<std::size_t>(spmv::BlockProduct::piece_rows);
  for (std::size_t thread = 0; thread < threads; ++thread)
    rooms_.emplace_back(rows * static_cast<std::size_t>(width));
}

std::size_t ChebyshevMoments::place(int step, Dot dot, int column) const {
  const std::size_t pair = static_cast<std::size_t>(step) * 2 + (dot == Dot::with_last ? 0 : 1);
  return pair * static_cast<std::size_t>(width_) + static_cast<std::size_t>(column);
}

/// Adds the dots of a row block to the sums of a step.
void ChebyshevMoments::add_block(int thread, int step, const double* last, const double* next,
                                 std::int64_t begin, std::int64_t count) {
  const std::int64_t first = begin * width_;
  const BlockDots dots = dots_of(width_, last + first, next + first, count);
  for (int column = 0; column < width_; ++column) {
    const int slot = step % steps_at_once;
    const auto of = static_cast<std::size_t>(column);
    sums_.part(thread, static_cast<int>(place(slot, Dot::with_last, column)))
        .add(dots.with_last[of]);
    sums_.part(thread, static_cast<int>(place(slot, Dot::with_itself, column)))
        .add(dots.with_itself[of]);
  }
}

/// The same for whole row blocks that follow each other.
void ChebyshevMoments::add_blocks(int thread, int step, const double* last, const double* next,
                                  std::size_t begin, std::int64_t count) {
  const auto first = static_cast<std::int64_t>(begin);
  for (std::int64_t row = first; row < first + count; row += block_rows_)
    add_block(thread, step, last, next, row, std::min(block_rows_, first + count - row));
}

/// Makes t_step of t_{step−1}, and adds its dots.
void ChebyshevMoments::collective_step(const TeamThread& thread, const SpectralInterval& interval,
                                       int step) {
  Vector& last = step % 2 == 1 ? *even_ : *odd_;
  double* const next = step % 2 == 1 ? odd_->values() : even_->values();
  const bool has_before = step > 1;
  const double factor = (has_before ? 2 : 1) / interval.half();
  const double center = interval.center();
  const auto advance_rows = [&](const double* product, std::int64_t begin, std::int64_t rows) {
    const std::int64_t first = begin * width_;
    advance(product, last.values() + first, center, factor, has_before, rows * width_,
            next + first);
  };
  if (width_ == 1) {
    op_.apply(thread, mode_, last, room(0), timer_, {});
    op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t rows) {
      advance_rows(room(0) + begin, static_cast<std::int64_t>(begin), rows);
      add_blocks(thread.index, step, last.values(), next, begin, rows);
    });
    return;
  }
  const auto on_rows = [&](const TeamThread&, const spmv::BlockRows& rows) {
    advance_rows(rows.y, rows.begin, rows.end - rows.begin);
    if (rows.ended)
      op_.matrix().for_each_completed_block(
          *rows.ended, [&](std::int64_t begin, std::int64_t count) {
            add_block(thread.index, step, last.values(), next, begin, count);
          });
  };
  op_.apply_block(thread, mode_, last, {room(thread.index), true}, std::cref(on_rows), timer_);
}

/// Adds what all ranks have where enough steps are together or the last is done. False if vectors
/// have grown: the answer is the same on every thread.
bool ChebyshevMoments::collective_take_sums(const TeamThread& thread, int step, int last_step) {
  if (step % steps_at_once != steps_at_once - 1 && step != last_step) return true;
  const int first = step / steps_at_once * steps_at_once;
  sums_.collective_reduce(thread);
  bool is_bounded = true;
  for (int column = 0; column < width_; ++column) {
    const double greatest = first == 0
                                ? sums_.result(static_cast<int>(place(0, Dot::with_itself, column)))
                                : dots_[place(0, Dot::with_itself, column)];
    for (int k = first; k <= step; ++k)
      is_bounded = is_bounded &&
                   sums_.result(static_cast<int>(place(k - first, Dot::with_itself, column))) <=
                       most_growth * greatest;
  }
  thread.barrier();  // `dots_` has been read
  if (thread.index == 0)
    for (std::size_t i = 0; i < place(step - first + 1, Dot::with_last, 0); ++i)
      dots_[place(first, Dot::with_last, 0) + i] = sums_.result(static_cast<int>(i));
  thread.barrier();
  return is_bounded;
}

bool ChebyshevMoments::collective_make(const SpectralInterval& interval, int count,
                                       const Fill& fill) {
  count_ = count;
  const int steps = count / 2;
  dots_.assign(place(steps + 1, Dot::with_last, 0), 0.0);
  bool is_inside = true;
  int done = 0;
  op_.team().run([&](const TeamThread& thread) {
    double* const start = even_->values();
    op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t rows) {
      fill(begin, rows, start + begin * static_cast<std::size_t>(width_));
      add_blocks(thread.index, 0, start, start, begin, rows);
    });
    bool goes_on = collective_take_sums(thread, 0, steps);
    int step = 0;
    while (goes_on && step < steps) {
      collective_step(thread, interval, ++step);
      thread.barrier();
      goes_on = collective_take_sums(thread, step, steps);
    }
    if (thread.index == 0) {
      is_inside = goes_on;
      done = step;
    }
  });
  product_count_ += std::int64_t{done} * width_;
  return is_inside;
}

std::vector<double> ChebyshevMoments::moments(int column) const {
  std::vector<double> moments;
  const double zeroth = dots_[place(0, Dot::with_itself, column)];
  const double first = dots_[place(1, Dot::with_last, column)];
  for (int m = 0; m < count_; ++m) {
    const double dot =
        dots_[place((m + 1) / 2, m % 2 == 1 ? Dot::with_last : Dot::with_itself, column)];
    moments.push_back(m == 0 ? zeroth : m == 1 ? first : 2 * dot - (m % 2 == 1 ? first : zeroth));
  }
  return moments;
}

}  // namespace weft::solver
