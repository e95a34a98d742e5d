#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "tests/support/serial_reference.h"

/// Bilinear finite elements on a square, whose eigenvalues have a closed form.
namespace weft::tests::square_elements {

inline constexpr int points = 20;  // of a line

/// A tridiagonal matrix with constant diagonals.
struct Line {
  double beside;
  double diagonal;
  double at(int i, int k) const { return i == k ? diagonal : std::abs(i - k) == 1 ? beside : 0; }
};
inline constexpr Line stiffness{-1, 2};
inline constexpr Line mass_of_line{1.0 / 6, 4.0 / 6};

inline void add_product(const Line& outer, const Line& inner, ReferenceMatrix& to) {
  for (int i = 0; i < points * points; ++i)
    for (int k = 0; k < points * points; ++k) {
      const double value = outer.at(i / points, k / points) * inner.at(i % points, k % points);
      if (value != 0) to[static_cast<std::size_t>(i)][k] += value;
    }
}

/// Bilinear finite elements on a square: K ⊗ M + M ⊗ K.
inline ReferenceMatrix stiffness_of_square() {
  ReferenceMatrix a(std::size_t{points} * points);
  add_product(stiffness, mass_of_line, a);
  add_product(mass_of_line, stiffness, a);
  return a;
}

inline ReferenceMatrix mass_of_square() {
  ReferenceMatrix b(std::size_t{points} * points);
  add_product(mass_of_line, mass_of_line, b);
  return b;
}

/// Their eigenvalues, ascending: sums of two of K x = λ M x.
inline std::vector<double> exact_values() {
  std::vector<double> line;
  for (int i = 1; i <= points; ++i) {
    const double c = std::cos(std::numbers::pi * i / (points + 1));
    line.push_back(6 * (1 - c) / (2 + c));
  }
  std::vector<double> values;
  for (const double one : line)
    for (const double other : line) values.push_back(one + other);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace weft::tests::square_elements
