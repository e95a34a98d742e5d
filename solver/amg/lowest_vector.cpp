#include "solver/amg/lowest_vector.h"

#include <cmath>

#include "solver/direct/small_matrix.h"

namespace weft::solver::amg {
namespace {

/// A direction is left out where those before it leave less than this of its square.
constexpr double least_part = 1e-5;

/// Cholesky's factor of B with a unit diagonal, of the directions that are independent.
class UnitFactor {
 public:
  explicit UnitFactor(const DirectionMatrix& b) {
    for (std::size_t i = 0; i < direction_count; ++i)
      scale_[i] = b[i][i] > 0 ? 1 / std::sqrt(b[i][i]) : 0;
    for (count_ = 0; count_ < direction_count; ++count_) {
      std::array<double, direction_count>& row = lower_[count_];
      double rest = scale_[count_] > 0 ? 1 : 0;
      for (std::size_t j = 0; j < count_; ++j) {
        double sum = b[count_][j] * scale_[count_] * scale_[j];
        for (std::size_t k = 0; k < j; ++k) sum -= row[k] * lower_[j][k];
        row[j] = sum / lower_[j][j];
        rest -= row[j] * row[j];
      }
      if (!(rest > least_part)) return;
      row[count_] = std::sqrt(rest);
    }
  }

  std::size_t count() const { return count_; }
  double scale(std::size_t i) const { return scale_[i]; }
  /// v = L⁻¹·v.
  void solve(std::array<double, direction_count>& v) const {
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t k = 0; k < i; ++k) v[i] -= lower_[i][k] * v[k];
      v[i] /= lower_[i][i];
    }
  }
  /// v = L⁻ᵀ·v.
  void solve_transposed(std::array<double, direction_count>& v) const {
    for (std::size_t i = count_; i-- > 0;) {
      for (std::size_t k = i + 1; k < count_; ++k) v[i] -= lower_[k][i] * v[k];
      v[i] /= lower_[i][i];
    }
  }

 private:
  std::array<double, direction_count> scale_{};
  DirectionMatrix lower_{};
  std::size_t count_ = 0;
};

}  // namespace

bool find_lowest_vector(const DirectionMatrix& a, const DirectionMatrix& b, LowestVector& found) {
  const UnitFactor factor(b);
  const std::size_t count = factor.count();
  if (count == 0) return false;
  DirectionMatrix c{};
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) c[i][j] = a[i][j] * factor.scale(i) * factor.scale(j);
  for (std::size_t i = 0; i < count; ++i) factor.solve(c[i]);
  const auto size = static_cast<int>(count);
  SmallMatrix reduced(size, size);
  for (int j = 0; j < size; ++j) {
    std::array<double, direction_count> column{};
    for (std::size_t i = 0; i < count; ++i) column[i] = c[i][static_cast<std::size_t>(j)];
    factor.solve(column);
    for (int i = 0; i < size; ++i) reduced(i, j) = column[static_cast<std::size_t>(i)];
  }
  const SymmetricEigen eigen = symmetric_eigen(reduced);
  found.quotient = eigen.values.front();
  found.parts = {};
  for (int i = 0; i < size; ++i) found.parts[static_cast<std::size_t>(i)] = eigen.vectors(i, 0);
  factor.solve_transposed(found.parts);
  for (std::size_t i = 0; i < count; ++i) found.parts[i] *= factor.scale(i);
  return true;
}

}  // namespace weft::solver::amg
