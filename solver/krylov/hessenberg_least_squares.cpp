#include "solver/krylov/hessenberg_least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::solver {

constexpr double least_pivot = 16 * std::numeric_limits<double>::epsilon();

HessenbergLeastSquares::HessenbergLeastSquares(std::size_t capacity)
    : capacity_(capacity),
      r_(capacity * capacity),
      cosines_(capacity),
      sines_(capacity),
      rotated_(capacity + 1),
      y_(capacity) {}

void HessenbergLeastSquares::start(double norm) {
  size_ = 0;
  rotated_[0] = norm;
}

bool HessenbergLeastSquares::append(std::span<double> column) {
  double largest = 0;
  for (const double value : column) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < size_; ++i) {
    const double upper = column[i];
    const double lower = column[i + 1];
    column[i] = cosines_[i] * upper + sines_[i] * lower;
    column[i + 1] = cosines_[i] * lower - sines_[i] * upper;
  }
  const double pivot = std::hypot(column[size_], column[size_ + 1]);
  if (!(pivot > least_pivot * largest)) return false;
  cosines_[size_] = column[size_] / pivot;
  sines_[size_] = column[size_ + 1] / pivot;
  column[size_] = pivot;
  for (std::size_t i = 0; i <= size_; ++i) r(i, size_) = column[i];
  rotated_[size_ + 1] = -sines_[size_] * rotated_[size_];
  rotated_[size_] *= cosines_[size_];
  ++size_;
  return true;
}

double HessenbergLeastSquares::residual_norm() const { return std::abs(rotated_[size_]); }

std::span<const double> HessenbergLeastSquares::solve() {
  for (std::size_t i = size_; i-- > 0;) {
    double sum = rotated_[i];
    for (std::size_t j = i + 1; j < size_; ++j) sum -= r(i, j) * y_[j];
    y_[i] = sum / r(i, i);
  }
  return {y_.data(), size_};
}

}  // namespace weft::solver
