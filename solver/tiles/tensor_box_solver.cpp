#include "solver/tiles/tensor_box_solver.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/simd.h"
#include "solver/direct/tridiagonal_spectrum.h"

namespace weft::solver {
namespace {

using perfmodel::load;
using perfmodel::store;
using perfmodel::unrolled;

/// Columns of A that are not 0: [0, left) and [right, end).
struct Columns {
  std::size_t left, right, end;
};

/// Rows × Vectors vectors of C = A·B, kept in registers.
template <class Simd, int Rows, int Vectors>
[[gnu::always_inline]] inline void multiply_block(const double* a, std::size_t a_stride,
                                                  const double* b, std::size_t b_stride,
                                                  const Columns& inner, double* c) {
  using Lane8 = typename Simd::Lane8;
  Lane8 sums[Rows][Vectors] = {};
  const auto add = [&](std::size_t begin, std::size_t end) __attribute__((always_inline)) {
    for (std::size_t i = begin; i < end; ++i) {
      const double* const b_row = b + i * b_stride;
      unrolled<Rows>([&](auto row) __attribute__((always_inline)) {
        const double factor = a[static_cast<std::size_t>(row) * a_stride + i];
        unrolled<Vectors>([&](auto vector) __attribute__((always_inline)) {
          sums[row][vector] += factor * load<Lane8>(b_row + 8 * vector);
        });
      });
    }
  };
  add(0, inner.left);
  add(inner.right, inner.end);
  unrolled<Rows>([&](auto row) __attribute__((always_inline)) {
    unrolled<Vectors>([&](auto vector) __attribute__((always_inline)) {
      store(c + static_cast<std::size_t>(row) * b_stride + 8 * vector, sums[row][vector]);
    });
  });
}

template <class Simd, int Rows>
[[gnu::always_inline]] inline void multiply_rows(const double* a, std::size_t a_stride,
                                                 const double* b, std::size_t b_stride,
                                                 const Columns& inner, double* c) {
  // The sums fill the registers: six rows take 18 of 32 with AVX-512, 12 of 16 with AVX2.
  constexpr int vectors = std::max(1, 3 * Simd::register_bytes / 64);
  std::size_t column = 0;
  for (; column + 8 * vectors <= b_stride; column += 8 * vectors)
    multiply_block<Simd, Rows, vectors>(a, a_stride, b + column, b_stride, inner, c + column);
  for (; column < b_stride; column += 8)
    multiply_block<Simd, Rows, 1>(a, a_stride, b + column, b_stride, inner, c + column);
}

/// C = A·B; B and C have whole vectors a row.
template <class Simd>
[[gnu::always_inline]] inline void multiply(const double* a, std::size_t rows, std::size_t a_stride,
                                            const double* b, std::size_t b_stride,
                                            const Columns& inner, double* c) {
  std::size_t row = 0;
  for (; row + 6 <= rows; row += 6)
    multiply_rows<Simd, 6>(a + row * a_stride, a_stride, b, b_stride, inner, c + row * b_stride);
  for (; row < rows; ++row)
    multiply_rows<Simd, 1>(a + row * a_stride, a_stride, b, b_stride, inner, c + row * b_stride);
}

/// A frame in a box, no part of it outside.
struct FrameParts {
  std::size_t left, right;  // columns [0, left) and [right, width)
  std::size_t south, north;  // rows [0, south) and [north, height)

  FrameParts(const RobinBox& box, const BoxFrame& frame)
      : left(static_cast<std::size_t>(std::min(frame.west, box.width))),
        right(std::max(left, static_cast<std::size_t>(std::max(0, box.width - frame.east)))),
        south(static_cast<std::size_t>(std::min(frame.south, box.height))),
        north(std::max(south, static_cast<std::size_t>(std::max(0, box.height - frame.north)))) {}
};

/// Vectors of neighbouring columns, all in flight at a time: both triangular solves of each with
/// the off-diagonal −1.
template <class Simd, int Vectors>
[[gnu::always_inline]] inline void eliminate_columns(double* columns, const double* inverse_pivots,
                                                     std::size_t height, std::size_t stride) {
  using Lane8 = typename Simd::Lane8;
  Lane8 previous[Vectors] = {};
  for (std::size_t y = 0; y < height; ++y)
    unrolled<Vectors>([&](auto vector) __attribute__((always_inline)) {
      const std::size_t place = y * stride + static_cast<std::size_t>(8 * vector);
      previous[vector] =
          (load<Lane8>(columns + place) + previous[vector]) * load<Lane8>(inverse_pivots + place);
      store(columns + place, previous[vector]);
    });
  for (std::size_t y = height - 1; y-- > 0;)
    unrolled<Vectors>([&](auto vector) __attribute__((always_inline)) {
      const std::size_t place = y * stride + static_cast<std::size_t>(8 * vector);
      previous[vector] =
          load<Lane8>(columns + place) + previous[vector] * load<Lane8>(inverse_pivots + place);
      store(columns + place, previous[vector]);
    });
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
  for (std::size_t end = 0; end < ends_.size(); ++end) {
    ends_[end].resize(width * 2 * end_columns);
    for (std::size_t k = 0; k < width; ++k)
      for (std::size_t i = 0; i < end_columns; ++i) {
        const std::size_t column = end * end_columns + i;
        if (column >= width) continue;
        double* const row = ends_[end].data() + k * 2 * end_columns;
        row[i] = transposed_[k * padded_ + column];
        row[end_columns + i] = transposed_[k * padded_ + width - 1 - column];
      }
  }

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

void TensorBoxSolver::eliminate(std::vector<double>& columns) const {
  const auto height = static_cast<std::size_t>(box_.height);
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    std::size_t k = 0;
    for (; k + 24 <= padded_; k += 24)
      eliminate_columns<Simd, 3>(columns.data() + k, inverse_pivots_.data() + k, height, padded_);
    for (; k < padded_; k += 8)
      eliminate_columns<Simd, 1>(columns.data() + k, inverse_pivots_.data() + k, height, padded_);
  });
}

/// û = u·V, row by row.
void TensorBoxSolver::transform(const double* right_hand_side, const BoxFrame& given,
                                double* transformed) const {
  const auto width = static_cast<std::size_t>(box_.width);
  const auto height = static_cast<std::size_t>(box_.height);
  const FrameParts parts(box_, given);
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    const auto rows = [&](std::size_t begin, std::size_t end,
                          const Columns& columns) __attribute__((always_inline)) {
      multiply<Simd>(right_hand_side + begin * width, end - begin, width, vectors_.data(), padded_,
                     columns, transformed + begin * padded_);
    };
    rows(0, parts.south, {width, width, width});
    rows(parts.south, parts.north, {parts.left, parts.right, width});
    rows(parts.north, height, {width, width, width});
  });
}

/// Number of vectors that the ends of a row fill.
std::size_t TensorBoxSolver::end_count(const BoxFrame& wanted) const {
  const auto columns = static_cast<std::size_t>(std::max(wanted.west, wanted.east));
  return (columns + end_columns - 1) / end_columns;
}

bool TensorBoxSolver::gains_by(const BoxFrame& wanted) const {
  const std::size_t count = end_count(wanted);
  return count <= most_ends && 4 * 8 * std::max(count, std::size_t{1}) <= padded_;
}

/// w = ŵ·Vᵀ, row by row.
void TensorBoxSolver::transform_back(Workspace& workspace, const BoxFrame& wanted) const {
  const auto width = static_cast<std::size_t>(box_.width);
  const auto height = static_cast<std::size_t>(box_.height);
  const double* const transformed = workspace.transformed.data();
  double* const solution = workspace.solution.data();
  double* const ends = workspace.ends.data();
  const FrameParts parts(box_, wanted);
  const Columns all{width, width, width};
  const bool has_ends = end_count(wanted) <= most_ends && end_count(wanted) * end_columns <= width;
  const std::size_t south = has_ends ? parts.south : height;
  const std::size_t north = has_ends ? parts.north : height;
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    const auto rows = [&](std::size_t begin, std::size_t end) __attribute__((always_inline)) {
      multiply<Simd>(transformed + begin * padded_, end - begin, padded_, transposed_.data(),
                     padded_, all, solution + begin * padded_);
    };
    rows(0, south);
    rows(north, height);
  });
  // To rows without padding. What is moved never lies where something has still to be read.
  for (std::size_t y = 0; y < height; ++y)
    if (y < south || y >= north) std::copy_n(solution + y * padded_, width, solution + y * width);
  for (std::size_t end = 0; end < end_count(wanted) && south < north; ++end) {
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      multiply<Simd>(transformed + south * padded_, north - south, padded_, ends_[end].data(),
                     2 * end_columns, all, ends);
    });
    for (std::size_t y = south; y < north; ++y) {
      const double* const from = ends + (y - south) * 2 * end_columns;
      double* const left = solution + y * width + end * end_columns;
      double* const right = solution + (y + 1) * width - 1 - end * end_columns;
      for (std::size_t i = 0; i < end_columns; ++i) {
        left[i] = from[i];
        right[-static_cast<std::ptrdiff_t>(i)] = from[end_columns + i];
      }
    }
  }
}

std::span<const double> TensorBoxSolver::solve(int thread, std::span<double> right_hand_side,
                                               const BoxFrame& given, const BoxFrame& wanted) {
  Workspace& workspace = workspaces_[static_cast<std::size_t>(thread)];
  const auto height = static_cast<std::size_t>(box_.height);
  workspace.transformed.resize(height * padded_);
  workspace.solution.resize(height * padded_);
  workspace.ends.resize(height * 2 * end_columns);
  transform(right_hand_side.data(), given, workspace.transformed.data());
  eliminate(workspace.transformed);
  transform_back(workspace, wanted);
  return std::span(workspace.solution).first(box_.point_count());
}

}  // namespace weft::solver
