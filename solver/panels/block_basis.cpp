#include "solver/panels/block_basis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "comm_thread/engine/crew.h"
#include "solver/panels/panel_kernels.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/partition.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// Rows that a pass over several panels keeps in the second cache: 80 kB for 40 vectors.
constexpr std::int64_t most_chunk_rows = 256;
constexpr int most_width = 8;

/// A square of so many rows and columns as a panel has columns, row by row.
using Square = std::array<double, std::size_t{most_width} * most_width>;
/// The rows of a chunk.
using Chunk = std::array<double, static_cast<std::size_t>(most_chunk_rows) * most_width>;

/// Where an entry of a matrix that stands row by row is.
std::size_t place(int row, int column, int columns) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

/// Rows `first` to `first + rows` of `width` columns of `c`, row by row, times `factor`.
void copy_rows(const SmallMatrix& c, int first, int rows, int column, int width, double factor,
               double* to) {
  for (int a = 0; a < rows; ++a)
    for (int b = 0; b < width; ++b)
      to[place(a, b, width)] = factor * c(first + a, column * width + b);
}

/// Sums of the squares of each column, over some rows in their order.
std::array<double, most_width> squares_of(const double* y, std::int64_t rows, int width) {
  std::array<double, most_width> squares{};
  for (std::int64_t i = 0; i < rows; ++i)
    for (int b = 0; b < width; ++b) {
      const double value = y[i * width + b];
      squares[static_cast<std::size_t>(b)] += value * value;
    }
  return squares;
}

/// A power of two that makes a number of that size at most 1; 1 for 0 and what is not finite.
double scale_for(double size) {
  if (!(size > 0) || !std::isfinite(size)) return 1;
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(1.0, -std::clamp(exponent, -1000, 1000));
}

}  // namespace

BlockBasis::BlockBasis(const spmv::LinearOperator& op, int width, int panel_count, int sum_count)
    : op_(op),
      width_(width),
      chunk_rows_(std::min(most_chunk_rows, spmv::RowPartition::block_size(op.global_row_count()))),
      rooms_(static_cast<std::size_t>(op.team().thread_count()),
             std::vector<double>(place(panel_count, 0, width * width))),
      coefficients_(place(panel_count, 0, width * width)),
      exact_count_(std::max(sum_count, width * width + width)),
      exact_(op.communicator(), op.comm_thread(), op.team().thread_count(), exact_count_),
      bounded_(op.communicator(), op.comm_thread(), op.team().thread_count(),
               panel_count * width * width) {
  const std::size_t size = op.element_count() * static_cast<std::size_t>(width);
  for (int number = 0; number < panel_count; ++number) {
    panels_.emplace_back(size);
    starts_.push_back(panels_.back().data());
  }
  op.team().run([&](const TeamThread& thread) {
    for (Panel& panel : panels_)
      for_each_chunk(thread, [&](std::int64_t row, std::int64_t count) {
        std::fill_n(panel.data() + row * width_, count * width_, 0.0);
      });
  });
}

template <class Work>
void BlockBasis::for_each_chunk(const TeamThread& thread, const Work& work) const {
  op_.for_each_segment(thread.index, [&](std::size_t first, std::int64_t count) {
    const std::int64_t end = static_cast<std::int64_t>(first) + count;
    for (auto begin = static_cast<std::int64_t>(first); begin < end; begin += chunk_rows_)
      work(begin, std::min(chunk_rows_, end - begin));
  });
}

template <class Work>
void BlockBasis::run_over_chunks(const Work& work) const {
  op_.team().run([&](const TeamThread& thread) { for_each_chunk(thread, work); });
}

void BlockBasis::fill_columns_randomly(double* y, int count, std::int64_t first_column) const {
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_element(thread.index, [&](std::size_t row) {
      for (int column = 0; column < count; ++column)
        y[row * static_cast<std::size_t>(width_) + static_cast<std::size_t>(column)] =
            2 * spmv::uniform(static_cast<std::uint64_t>(first_column + column),
                              op_.global_row(row)) -
            1;
    });
  });
}

void BlockBasis::set_unit_vectors(int count) {
  const auto columns = static_cast<std::size_t>(width_);
  op_.team().run([&](const TeamThread& thread) {
    op_.for_each_element(thread.index, [&](std::size_t row) {
      const auto one = static_cast<std::size_t>(op_.global_row(row));
      for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p)
        for (std::size_t column = 0; column < columns; ++column)
          starts_[p][row * columns + column] = p * columns + column == one ? 1 : 0;
    });
  });
}

SmallMatrix BlockBasis::collective_products(int count, double* y) {
  Step step;
  step.norms.assign(static_cast<std::size_t>(width_), 1.0);
  const SmallMatrix nothing(count * width_, width_);
  op_.team().run([&](const TeamThread& thread) {
    collective_subtract_known(thread, count, count, nothing, y, step);
  });
  return step.products;
}

SmallMatrix BlockBasis::collective_gram(const double* y) {
  Step step;
  op_.team().run([&](const TeamThread& thread) { collective_pair(thread, y, y, step); });
  return step.with_last;
}

double BlockBasis::collective_orthogonality(int count) {
  double most = 0;
  const int panels = (count + width_ - 1) / width_;
  for (int number = 0; number < panels; ++number) {
    const SmallMatrix products = collective_products(panels, panel(number));
    const int columns = std::min(width_, count - number * width_);
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < count; ++row)
        most = std::max(
            most, std::abs(products(row, column) - (row == number * width_ + column ? 1.0 : 0.0)));
  }
  return most;
}

void BlockBasis::collective_pair(const TeamThread& thread, const double* x, const double* y,
                                 Step& step) {
  if (thread.is_primary()) note_pass(x == y ? 1 : 2, 2, exact_bytes());
  const std::array<const double*, 1> panel{x};
  for_each_chunk(thread, [&](std::int64_t begin, std::int64_t rows) {
    Square part{};
    const double* const of_y = y + begin * width_;
    sum_products(width_, panel, begin, of_y, rows, part.data());
    for (int i = 0; i < width_ * width_; ++i)
      exact_.part(thread.index, i).add(part[static_cast<std::size_t>(i)]);
    const auto squares = squares_of(of_y, rows, width_);
    for (int b = 0; b < width_; ++b)
      exact_.part(thread.index, width_ * width_ + b).add(squares[static_cast<std::size_t>(b)]);
  });
  exact_.collective_reduce(thread);
  if (thread.is_primary()) {
    step.with_last = SmallMatrix(width_, width_);
    step.norms.clear();
    for (int b = 0; b < width_; ++b) {
      for (int a = 0; a < width_; ++a) step.with_last(a, b) = exact_.result(a * width_ + b);
      step.norms.push_back(std::sqrt(exact_.result(width_ * width_ + b)));
    }
  }
  thread.barrier();
}

void BlockBasis::collective_subtract_known(const TeamThread& thread, int first, int count,
                                           const SmallMatrix& known, double* y, Step& step) {
  if (thread.is_primary()) {
    note_pass(count + (first < count ? 2 : 1), 2 * count - first, bounded_.message_bytes());
    copy_rows(known, first * width_, (count - first) * width_, 0, width_, -1, coefficients_.data());
  }
  std::array<double, most_width> scale{};
  for (int b = 0; b < width_; ++b)
    scale[static_cast<std::size_t>(b)] = scale_for(step.norms[static_cast<std::size_t>(b)]);
  thread.barrier();
  std::vector<double>& part = room(thread);
  for_each_chunk(thread, [&](std::int64_t begin, std::int64_t rows) {
    double* const of_y = y + begin * width_;
    if (first < count)
      add_combination(width_, panels(first, count - first), begin, coefficients_.data(), rows,
                      of_y);
    sum_products(width_, panels(0, count), begin, of_y, rows, part.data());
    auto& sum = bounded_.part(thread.index);
    for (int row = 0; row < count * width_; ++row)
      for (int b = 0; b < width_; ++b)
        sum.add(place(row, b, width_),
                part[place(row, b, width_)] * scale[static_cast<std::size_t>(b)]);
  });
  bounded_.collective_reduce(thread);
  if (thread.is_primary()) {
    step.products = SmallMatrix(count * width_, width_);
    for (int row = 0; row < count * width_; ++row)
      for (int b = 0; b < width_; ++b)
        step.products(row, b) =
            bounded_.result(row * width_ + b) / scale[static_cast<std::size_t>(b)];
  }
  thread.barrier();
}

void BlockBasis::collective_subtract_found(const TeamThread& thread, int count, double* y,
                                           Step& step) {
  if (thread.is_primary()) {
    note_pass(count + 2, count + 1, bounded_.message_bytes());
    copy_rows(step.products, 0, count * width_, 0, width_, -1, coefficients_.data());
  }
  std::array<double, most_width> scale{};
  for (int b = 0; b < width_; ++b)
    scale[static_cast<std::size_t>(b)] = scale_for(step.norms[static_cast<std::size_t>(b)]);
  thread.barrier();
  const std::array<const double*, 1> own{y};
  for_each_chunk(thread, [&](std::int64_t begin, std::int64_t rows) {
    double* const of_y = y + begin * width_;
    add_combination(width_, panels(0, count), begin, coefficients_.data(), rows, of_y);
    Square part{};
    sum_products(width_, own, begin, of_y, rows, part.data());
    for (int a = 0; a < width_; ++a)
      for (int b = 0; b < width_; ++b)
        bounded_.part(thread.index)
            .add(place(a, b, width_), part[place(a, b, width_)] *
                                          scale[static_cast<std::size_t>(a)] *
                                          scale[static_cast<std::size_t>(b)]);
  });
  bounded_.collective_reduce(thread);
  if (thread.is_primary()) {
    step.gram = SmallMatrix(width_, width_);
    for (int a = 0; a < width_; ++a)
      for (int b = 0; b < width_; ++b)
        step.gram(a, b) = bounded_.result(a * width_ + b) / scale[static_cast<std::size_t>(a)] /
                          scale[static_cast<std::size_t>(b)];
  }
  thread.barrier();
}

void BlockBasis::subtract(int count, const SmallMatrix& c, double* y) const {
  note_pass(count + 2, count);
  std::vector<double> rows_of_c(place(count * width_, 0, width_));
  copy_rows(c, 0, count * width_, 0, width_, -1, rows_of_c.data());
  run_over_chunks([&](std::int64_t begin, std::int64_t rows) {
    add_combination(width_, panels(0, count), begin, rows_of_c.data(), rows, y + begin * width_);
  });
}

void BlockBasis::multiply(const TeamThread& thread, const SmallMatrix& c, double* y) const {
  if (thread.is_primary()) note_pass(2, 1);
  Square factor{};
  copy_rows(c, 0, width_, 0, width_, 1, factor.data());
  Chunk before{};
  const std::array<const double*, 1> panel{before.data()};
  for_each_chunk(thread, [&](std::int64_t begin, std::int64_t rows) {
    double* const to = y + begin * width_;
    std::copy_n(to, rows * width_, before.data());
    std::fill_n(to, rows * width_, 0.0);
    add_combination(width_, panel, 0, factor.data(), rows, to);
  });
}

void BlockBasis::multiply(const SmallMatrix& c, double* y) const {
  op_.team().run([&](const TeamThread& thread) { multiply(thread, c, y); });
}

void BlockBasis::rotate(int count, const SmallMatrix& c) {
  const int result_count = c.columns() / width_;
  note_pass(count + result_count, count * result_count);
  const std::size_t size = place(count * width_, 0, width_);  // of what leads to one panel
  std::vector<double> columns(static_cast<std::size_t>(result_count) * size);
  for (int to = 0; to < result_count; ++to)
    copy_rows(c, 0, count * width_, to, width_, 1,
              columns.data() + static_cast<std::size_t>(to) * size);
  op_.team().run([&](const TeamThread& thread) {
    std::vector<double> results(static_cast<std::size_t>(chunk_rows_ * c.columns()));
    const auto result = [&](int p) { return results.data() + p * chunk_rows_ * width_; };
    for_each_chunk(thread, [&](std::int64_t begin, std::int64_t rows) {
      std::fill(results.begin(), results.end(), 0.0);
      for (int to = 0; to < result_count; ++to)
        add_combination(width_, panels(0, count), begin,
                        columns.data() + static_cast<std::size_t>(to) * size, rows, result(to));
      for (int to = 0; to < result_count; ++to)
        std::copy_n(result(to), rows * width_, panel(to) + begin * width_);
    });
  });
}

std::vector<double> BlockBasis::collective_residual_norms(int products, const SmallMatrix& c,
                                                          std::span<const double> values) {
  const int count = static_cast<int>(values.size()) / width_;
  note_pass(2 * count, 2 * count * count, exact_bytes());
  const std::size_t size = place(count * width_, 0, width_);
  SmallMatrix scaled = c;
  for (int column = 0; column < c.columns(); ++column)
    for (int row = 0; row < c.rows(); ++row)
      scaled(row, column) *= -values[static_cast<std::size_t>(column)];
  std::vector<double> of_products(static_cast<std::size_t>(count) * size);
  std::vector<double> of_vectors(of_products.size());
  for (int to = 0; to < count; ++to) {
    const std::size_t begin = static_cast<std::size_t>(to) * size;
    copy_rows(c, 0, count * width_, to, width_, 1, of_products.data() + begin);
    copy_rows(scaled, 0, count * width_, to, width_, 1, of_vectors.data() + begin);
  }
  op_.team().run([&](const TeamThread& thread) {
    Chunk residual{};
    for_each_chunk(thread, [&](std::int64_t begin, std::int64_t rows) {
      for (int to = 0; to < count; ++to) {
        const std::size_t first = static_cast<std::size_t>(to) * size;
        residual.fill(0);
        add_combination(width_, panels(products, count), begin, of_products.data() + first, rows,
                        residual.data());
        add_combination(width_, panels(0, count), begin, of_vectors.data() + first, rows,
                        residual.data());
        const auto squares = squares_of(residual.data(), rows, width_);
        for (int b = 0; b < width_; ++b)
          exact_.part(thread.index, to * width_ + b).add(squares[static_cast<std::size_t>(b)]);
      }
    });
    exact_.collective_reduce(thread);
  });
  std::vector<double> norms;
  for (int i = 0; i < count * width_; ++i) norms.push_back(std::sqrt(exact_.result(i)));
  return norms;
}

}  // namespace weft::solver
