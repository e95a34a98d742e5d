#include "solver/tensor_box_solver.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm_thread/input_error.h"
#include "perfmodel/simd.h"
#include "solver/tridiagonal_spectrum.h"

namespace weft::solver {
namespace {

using perfmodel::Lane8;
using perfmodel::lanes;

/// Which columns of A are not 0: [0, left) and [right, end).
struct Columns {
  std::size_t left, right, end;
};

/// Rows × Vectors vectors of C = A·B, kept in registers.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void multiply_block(const double* a, std::size_t a_stride,
                                                  const double* b, std::size_t b_stride,
                                                  const Columns& inner, double* c) {
  Lane8 sums[Rows][Vectors] = {};
  const auto add = [&](std::size_t begin, std::size_t end) __attribute__((always_inline)) {
    for (std::size_t i = begin; i < end; ++i) {
      const double* const b_row = b + i * b_stride;
      for (int row = 0; row < Rows; ++row) {
        const double factor = a[static_cast<std::size_t>(row) * a_stride + i];
        for (int vector = 0; vector < Vectors; ++vector)
          sums[row][vector] += factor * lanes(b_row + 8 * vector).value;
      }
    }
  };
  add(0, inner.left);
  add(inner.right, inner.end);
  for (int row = 0; row < Rows; ++row)
    for (int vector = 0; vector < Vectors; ++vector)
      lanes(c + static_cast<std::size_t>(row) * b_stride + 8 * vector).value = sums[row][vector];
}

template <int Rows>
[[gnu::always_inline]] inline void multiply_rows(const double* a, std::size_t a_stride,
                                                 const double* b, std::size_t b_stride,
                                                 const Columns& inner, double* c) {
  std::size_t column = 0;
  for (; column + 24 <= b_stride; column += 24)
    multiply_block<Rows, 3>(a, a_stride, b + column, b_stride, inner, c + column);
  for (; column < b_stride; column += 8)
    multiply_block<Rows, 1>(a, a_stride, b + column, b_stride, inner, c + column);
}

/// C = A·B; B and C have whole vectors a row.
[[gnu::always_inline]] inline void multiply(const double* a, std::size_t rows, std::size_t a_stride,
                                            const double* b, std::size_t b_stride,
                                            const Columns& inner, double* c) {
  std::size_t row = 0;
  for (; row + 6 <= rows; row += 6)
    multiply_rows<6>(a + row * a_stride, a_stride, b, b_stride, inner, c + row * b_stride);
  for (; row < rows; ++row)
    multiply_rows<1>(a + row * a_stride, a_stride, b, b_stride, inner, c + row * b_stride);
}

/// tridiag(−1, 2, −1) less a number at either end.
std::vector<double> diagonal_of(int count, double at_begin, double at_end) {
  std::vector<double> diagonal(static_cast<std::size_t>(count), 2.0);
  diagonal.front() -= at_begin;
  diagonal.back() -= at_end;
  return diagonal;
}

}  // namespace

TensorBoxSolver::TensorBoxSolver(const RobinBox& box, int thread_count)
    : box_(box), padded_((static_cast<std::size_t>(box.width) + 7) / 8 * 8) {
  const auto width = static_cast<std::size_t>(box.width);
  const auto height = static_cast<std::size_t>(box.height);
  const TridiagonalSpectrum spectrum = tridiagonal_spectrum(
      diagonal_of(box.width, box.west, box.east), std::vector<double>(width, -1.0));
  vectors_.resize(width * padded_);
  transposed_.resize(width * padded_);
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t k = 0; k < width; ++k)
      vectors_[i * padded_ + k] = transposed_[k * padded_ + i] = spectrum.vectors[i * width + k];

  const std::vector<double> diagonal = diagonal_of(box.height, box.south, box.north);
  inverse_pivots_.resize(height * padded_);
  for (std::size_t k = 0; k < width; ++k) {
    double inverse = 0;
    for (std::size_t y = 0; y < height; ++y) {
      const double pivot = diagonal[y] + spectrum.values[k] - inverse;
      if (!(pivot > 0))
        throw comm_thread::InputError(
            fmt::format("a subdomain of {} x {} points: found a matrix that is not positive "
                        "definite to working precision; expected a larger alpha",
                        box.width, box.height));
      inverse = inverse_pivots_[y * padded_ + k] = 1 / pivot;
    }
  }
  workspaces_.resize(static_cast<std::size_t>(thread_count));
}

/// All columns at a time; both triangular solves of each with the off-diagonal −1.
void TensorBoxSolver::eliminate(std::vector<double>& columns) const {
  const auto height = static_cast<std::size_t>(box_.height);
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    for (std::size_t k = 0; k < padded_; k += 8) {
      Lane8 previous{};
      for (std::size_t y = 0; y < height; ++y) {
        const std::size_t place = y * padded_ + k;
        previous = (lanes(columns.data() + place).value + previous) *
                   lanes(inverse_pivots_.data() + place).value;
        lanes(columns.data() + place).value = previous;
      }
      for (std::size_t y = height - 1; y-- > 0;) {
        const std::size_t place = y * padded_ + k;
        previous = lanes(columns.data() + place).value +
                   previous * lanes(inverse_pivots_.data() + place).value;
        lanes(columns.data() + place).value = previous;
      }
    }
  });
}

/// û = u·V, row by row.
void TensorBoxSolver::transform(const double* right_hand_side, const BoxFrame& frame,
                                double* transformed) const {
  const auto width = static_cast<std::size_t>(box_.width);
  const auto height = static_cast<std::size_t>(box_.height);
  const std::size_t left = std::min(static_cast<std::size_t>(frame.west), width);
  const std::size_t right =
      std::max(left, width - std::min(static_cast<std::size_t>(frame.east), width));
  const std::size_t south = std::min(static_cast<std::size_t>(frame.south), height);
  const std::size_t north =
      std::max(south, height - std::min(static_cast<std::size_t>(frame.north), height));
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    const auto rows = [&](std::size_t begin, std::size_t end,
                          const Columns& columns) __attribute__((always_inline)) {
      multiply(right_hand_side + begin * width, end - begin, width, vectors_.data(), padded_,
               columns, transformed + begin * padded_);
    };
    rows(0, south, {width, width, width});
    rows(south, north, {left, right, width});
    rows(north, height, {width, width, width});
  });
}

std::span<const double> TensorBoxSolver::solve(int thread, std::span<double> right_hand_side,
                                               const BoxFrame& frame) {
  Workspace& workspace = workspaces_[static_cast<std::size_t>(thread)];
  const auto width = static_cast<std::size_t>(box_.width);
  const auto height = static_cast<std::size_t>(box_.height);
  workspace.transformed.resize(height * padded_);
  workspace.solution.resize(height * padded_);
  transform(right_hand_side.data(), frame, workspace.transformed.data());
  eliminate(workspace.transformed);
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    multiply(workspace.transformed.data(), height, padded_, transposed_.data(), padded_,
             {width, width, width}, workspace.solution.data());
  });
  double* const solution = workspace.solution.data();
  for (std::size_t y = 1; y < height && padded_ != width; ++y)
    std::copy_n(solution + y * padded_, width, solution + y * width);
  return {solution, height * width};
}

}  // namespace weft::solver
