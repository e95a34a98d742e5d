#include "solver/recycle/best_combination.h"

#include <cmath>
#include <cstddef>

namespace weft::solver {
namespace {

/// Of a vector of length 1, what is left beside those before it is rounding below this square.
constexpr double least_square_left = 1e-13;

}  // namespace

std::optional<BestCombination> find_best_combination(std::span<const double> upper,
                                                     std::span<const double> g) {
  const std::size_t n = g.size();
  BestCombination best{.factors = std::vector<double>(n), .squares = std::vector<double>(n)};
  std::vector<std::vector<double>> lower(n, std::vector<double>(n));  // of those that are kept
  std::vector<double> scale(n);
  const auto entry = [&](std::size_t row, std::size_t column) {  // of G scaled, row <= column
    return upper[row * n - row * (row + 1) / 2 + column] * scale[row] * scale[column];
  };
  std::vector<double> y(n);
  bool has_any = false;
  for (std::size_t i = 0; i < n; ++i) {
    const double diagonal = upper[i * n - i * (i + 1) / 2 + i];
    if (!(diagonal > 0) || !std::isfinite(diagonal)) continue;
    scale[i] = 1 / std::sqrt(diagonal);
    double left = 1;
    double value = g[i] * scale[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (lower[j][j] == 0) continue;
      double product = entry(j, i);
      for (std::size_t k = 0; k < j; ++k) product -= lower[i][k] * lower[j][k];
      lower[i][j] = product / lower[j][j];
      left -= lower[i][j] * lower[i][j];
      value -= lower[i][j] * y[j];
    }
    if (!(left > least_square_left) || !std::isfinite(value)) {
      lower[i].assign(n, 0);
      continue;
    }
    lower[i][i] = std::sqrt(left);
    y[i] = value / lower[i][i];
    best.squares[i] = y[i] * y[i];
    has_any = true;
  }
  if (!has_any) return std::nullopt;
  for (std::size_t i = n; i-- > 0;) {
    if (lower[i][i] == 0) continue;
    double value = y[i];
    for (std::size_t j = i + 1; j < n; ++j) value -= lower[j][i] * best.factors[j];
    best.factors[i] = value / lower[i][i];
  }
  for (std::size_t i = 0; i < n; ++i) best.factors[i] *= scale[i];
  return best;
}

}  // namespace weft::solver
