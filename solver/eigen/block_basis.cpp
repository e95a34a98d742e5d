#include "solver/eigen/block_basis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "comm_thread/engine/crew.h"
#include "perfmodel/simd.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// Rows that a pass over several panels keeps in the first cache.
constexpr std::int64_t chunk_rows = 128;
constexpr std::size_t most_width = 8;

/// A square of so many rows and columns as a panel has columns, row by row.
using Square = std::array<double, most_width * most_width>;

/// Where an entry of a matrix that stands row by row is.
std::size_t place(int row, int column, int columns) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
         static_cast<std::size_t>(column);
}

/// Calls work.operator()<width>() for the width of a panel.
template <class Work>
void with_width(int width, const Work& work) {
  switch (width) {
    case 1:
      return work.template operator()<1>();
    case 2:
      return work.template operator()<2>();
    case 4:
      return work.template operator()<4>();
    default:
      return work.template operator()<8>();
  }
}

/// sums = QᵀY over some rows, in the order of the rows. Reads 16 · width bytes a row and does
/// 2 · width² flops.
template <int width>
void sum_products(const double* q, const double* y, std::int64_t count, double* sums) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    double local[width][width] = {};
    for (std::int64_t i = 0; i < count; ++i)
      for (int a = 0; a < width; ++a)
        for (int b = 0; b < width; ++b) local[a][b] += q[i * width + a] * y[i * width + b];
    for (int a = 0; a < width; ++a)
      for (int b = 0; b < width; ++b) sums[a * width + b] = local[a][b];
  });
}

/// y += q·c over some rows. Shape: c: [width, width], row by row.
template <int width>
void add_combination(const double* q, const double* c, std::int64_t count, double* y) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    double local[width][width];
    for (int a = 0; a < width; ++a)
      for (int b = 0; b < width; ++b) local[a][b] = c[a * width + b];
    for (std::int64_t i = 0; i < count; ++i) {
      double row[width];  // in a register: q and y might be the same memory
      for (int b = 0; b < width; ++b) row[b] = y[i * width + b];
      for (int a = 0; a < width; ++a)
        for (int b = 0; b < width; ++b) row[b] += q[i * width + a] * local[a][b];
      for (int b = 0; b < width; ++b) y[i * width + b] = row[b];
    }
  });
}

/// The block of `c` that leads from panel `from` to panel `to`, row by row, times `factor`.
Square block_of(const SmallMatrix& c, int width, int from, int to, double factor) {
  Square block{};
  for (int a = 0; a < width; ++a)
    for (int b = 0; b < width; ++b)
      block[place(a, b, width)] = factor * c(from * width + a, to * width + b);
  return block;
}

}  // namespace

BlockBasis::BlockBasis(const spmv::LinearOperator& op, int width, int panel_count)
    : op_(op),
      width_(width),
      sum_(op.communicator(), op.comm_thread(), op.team().thread_count(),
           panel_count * width * width) {
  const std::size_t size = op.element_count() * static_cast<std::size_t>(width);
  for (int number = 0; number < panel_count; ++number) panels_.emplace_back(size);
  op.team().run([&](const TeamThread& thread) {
    for (Panel& panel : panels_)
      for_each_segment(thread, [&](std::int64_t row, std::int64_t count) {
        std::fill_n(panel.data() + row * width_, count * width_, 0.0);
      });
  });
}

template <class Work>
void BlockBasis::for_each_segment(const TeamThread& thread, const Work& work) const {
  op_.for_each_segment(thread.index, [&](std::size_t begin, std::int64_t count) {
    work(static_cast<std::int64_t>(begin), count);
  });
}

template <class Add>
std::vector<double> BlockBasis::collective_sums(int count, const Add& add) {
  const spmv::GlobalIndex most = spmv::RowPartition::block_size(op_.global_row_count());
  op_.team().run([&](const TeamThread& thread) {
    for_each_segment(thread, [&](std::int64_t row, std::int64_t rows) {
      for (std::int64_t begin = row; begin < row + rows; begin += most)
        add(thread, begin, std::min(most, row + rows - begin));
    });
    sum_.collective_reduce(thread);
  });
  std::vector<double> results;
  for (int i = 0; i < count; ++i) results.push_back(sum_.result(i));
  return results;
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

SmallMatrix BlockBasis::collective_products(int count, const double* y) {
  const int block = width_ * width_;
  const std::vector<double> sums = collective_sums(
      count * block, [&](const TeamThread& thread, std::int64_t row, std::int64_t rows) {
        Square part{};
        for (int p = 0; p < count; ++p) {
          with_width(width_, [&]<int width> {
            sum_products<width>(panel(p) + row * width, y + row * width, rows, part.data());
          });
          for (int i = 0; i < block; ++i)
            sum_.part(thread.index, p * block + i).add(part[static_cast<std::size_t>(i)]);
        }
      });
  SmallMatrix products(count * width_, width_);
  for (int row = 0; row < products.rows(); ++row)
    for (int column = 0; column < width_; ++column)
      products(row, column) = sums[place(row, column, width_)];
  return products;
}

SmallMatrix BlockBasis::collective_gram(const double* y) {
  const std::vector<double> sums = collective_sums(
      width_ * width_, [&](const TeamThread& thread, std::int64_t row, std::int64_t rows) {
        Square part{};
        with_width(width_, [&]<int width> {
          sum_products<width>(y + row * width, y + row * width, rows, part.data());
        });
        for (int i = 0; i < width_ * width_; ++i)
          sum_.part(thread.index, i).add(part[static_cast<std::size_t>(i)]);
      });
  SmallMatrix gram(width_, width_);
  for (int row = 0; row < width_; ++row)
    for (int column = 0; column < width_; ++column)
      gram(row, column) = sums[place(row, column, width_)];
  return gram;
}

void BlockBasis::subtract(int count, const SmallMatrix& c, double* y) const {
  op_.team().run([&](const TeamThread& thread) {
    for_each_segment(thread, [&](std::int64_t row, std::int64_t rows) {
      for (std::int64_t begin = row; begin < row + rows; begin += chunk_rows) {
        const std::int64_t length = std::min(chunk_rows, row + rows - begin);
        for (int p = 0; p < count; ++p) {
          const auto block = block_of(c, width_, p, 0, -1);
          with_width(width_, [&]<int width> {
            add_combination<width>(panel(p) + begin * width, block.data(), length,
                                   y + begin * width);
          });
        }
      }
    });
  });
}

void BlockBasis::multiply(const SmallMatrix& c, double* y) const {
  const auto block = block_of(c, width_, 0, 0, 1);
  op_.team().run([&](const TeamThread& thread) {
    std::array<double, chunk_rows * most_width> before{};
    for_each_segment(thread, [&](std::int64_t row, std::int64_t rows) {
      for (std::int64_t begin = row; begin < row + rows; begin += chunk_rows) {
        const std::int64_t length = std::min(chunk_rows, row + rows - begin);
        double* const to = y + begin * width_;
        std::copy_n(to, length * width_, before.data());
        std::fill_n(to, length * width_, 0.0);
        with_width(width_, [&]<int width> {
          add_combination<width>(before.data(), block.data(), length, to);
        });
      }
    });
  });
}

void BlockBasis::rotate(int count, const SmallMatrix& c) {
  const int result_count = c.columns() / width_;
  op_.team().run([&](const TeamThread& thread) {
    std::vector<double> results(static_cast<std::size_t>(chunk_rows * c.columns()));
    const auto result = [&](int p) { return results.data() + p * chunk_rows * width_; };
    for_each_segment(thread, [&](std::int64_t row, std::int64_t rows) {
      for (std::int64_t begin = row; begin < row + rows; begin += chunk_rows) {
        const std::int64_t length = std::min(chunk_rows, row + rows - begin);
        std::fill(results.begin(), results.end(), 0.0);
        for (int from = 0; from < count; ++from)
          for (int to = 0; to < result_count; ++to) {
            const auto block = block_of(c, width_, from, to, 1);
            with_width(width_, [&]<int width> {
              add_combination<width>(panel(from) + begin * width, block.data(), length, result(to));
            });
          }
        for (int to = 0; to < result_count; ++to)
          std::copy_n(result(to), length * width_, panel(to) + begin * width_);
      }
    });
  });
}

std::vector<double> BlockBasis::collective_residual_norms(std::span<const double* const> products,
                                                          const SmallMatrix& c,
                                                          std::span<const double> values) {
  const int count = static_cast<int>(products.size());
  SmallMatrix scaled = c;
  for (int column = 0; column < c.columns(); ++column)
    for (int row = 0; row < c.rows(); ++row)
      scaled(row, column) *= -values[static_cast<std::size_t>(column)];
  std::vector<double> norms = collective_sums(
      c.columns(), [&](const TeamThread& thread, std::int64_t row, std::int64_t rows) {
        std::vector<double> squares(static_cast<std::size_t>(c.columns()));
        std::array<double, chunk_rows * most_width> residual{};
        for (std::int64_t begin = row; begin < row + rows; begin += chunk_rows) {
          const std::int64_t length = std::min(chunk_rows, row + rows - begin);
          for (int to = 0; to < count; ++to) {
            residual.fill(0);
            for (int from = 0; from < count; ++from) {
              const auto of_product = block_of(c, width_, from, to, 1);
              const auto of_vector = block_of(scaled, width_, from, to, 1);
              with_width(width_, [&]<int width> {
                add_combination<width>(products[static_cast<std::size_t>(from)] + begin * width,
                                       of_product.data(), length, residual.data());
                add_combination<width>(panel(from) + begin * width, of_vector.data(), length,
                                       residual.data());
              });
            }
            for (std::int64_t i = 0; i < length; ++i)
              for (int b = 0; b < width_; ++b) {
                const double value = residual[static_cast<std::size_t>(i * width_ + b)];
                squares[place(to, b, width_)] += value * value;
              }
          }
        }
        for (int column = 0; column < c.columns(); ++column)
          sum_.part(thread.index, column).add(squares[static_cast<std::size_t>(column)]);
      });
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

}  // namespace weft::solver
