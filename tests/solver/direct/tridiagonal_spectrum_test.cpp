#include "solver/direct/tridiagonal_spectrum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

using Vector = std::vector<double>;

/// The largest entry of V·Vᵀ − 1 and of V·Λ·Vᵀ − T.
double error_of(const TridiagonalSpectrum& spectrum, const Vector& diagonal,
                const Vector& off_diagonal) {
  const std::size_t n = diagonal.size();
  double error = 0;
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t column = 0; column < n; ++column) {
      double unit = row == column ? -1 : 0;
      double entry = row == column ? -diagonal[row] : 0;
      if (row + 1 == column || column + 1 == row) entry = -off_diagonal[std::min(row, column)];
      for (std::size_t k = 0; k < n; ++k) {
        const double product = spectrum.vectors[row * n + k] * spectrum.vectors[column * n + k];
        unit += product;
        entry += spectrum.values[k] * product;
      }
      error = std::max({error, std::abs(unit), std::abs(entry)});
    }
  return error;
}

TEST_CASE("vectors are orthogonal and give the matrix back") {
  for (const std::size_t n : {1U, 2U, 3U, 7U, 66U, 130U}) {
    CAPTURE(n);
    Vector diagonal(n, 2.0);
    Vector off_diagonal(n, -1.0);
    CHECK(error_of(tridiagonal_spectrum(diagonal, off_diagonal), diagonal, off_diagonal) < 1e-13);
    diagonal.front() -= 1 / 1.009;
    CHECK(error_of(tridiagonal_spectrum(diagonal, off_diagonal), diagonal, off_diagonal) < 1e-13);
    for (std::size_t i = 0; i < n; ++i) {
      diagonal[i] = std::sin(static_cast<double>(i));
      off_diagonal[i] = i % 5 == 3 ? 0.0 : std::cos(static_cast<double>(3 * i));
    }
    CHECK(error_of(tridiagonal_spectrum(diagonal, off_diagonal), diagonal, off_diagonal) < 1e-13);
  }
}

TEST_CASE("the ends of vectors are those of the whole vectors") {
  for (const std::size_t n : {1U, 2U, 50U}) {
    CAPTURE(n);
    Vector diagonal(n);
    Vector off_diagonal(n);
    for (std::size_t i = 0; i < n; ++i) {
      diagonal[i] = std::sin(static_cast<double>(i));
      off_diagonal[i] = i % 7 == 3 ? 0.0 : std::cos(static_cast<double>(3 * i));
    }
    const TridiagonalSpectrum whole = tridiagonal_spectrum(diagonal, off_diagonal);
    const TridiagonalEnds ends = tridiagonal_ends(diagonal, off_diagonal);
    CHECK(ends.values == whole.values);
    for (std::size_t k = 0; k < n; ++k) {
      CHECK(ends.first[k] == whole.vectors[k]);
      CHECK(ends.last[k] == whole.vectors[(n - 1) * n + k]);
    }
  }
}

TEST_CASE("the values of the 1-D Laplacian are those known") {
  const std::size_t n = 9;
  TridiagonalSpectrum spectrum = tridiagonal_spectrum(Vector(n, 2.0), Vector(n, -1.0));
  std::ranges::sort(spectrum.values);
  for (std::size_t k = 0; k < n; ++k)
    CHECK(spectrum.values[k] ==
          Approx(2 - 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) /
                                  static_cast<double>(n + 1)))
              .epsilon(1e-12));
}

}  // namespace
}  // namespace weft::solver
