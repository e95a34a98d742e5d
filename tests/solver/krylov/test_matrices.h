#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/serial_reference.h"

namespace weft::tests {

/// Convection and diffusion on n×n points: not symmetric, rows of different size.
inline ReferenceMatrix convection(int n) {
  ReferenceMatrix a(static_cast<std::size_t>(n * n));
  for (int i = 0; i < n * n; ++i) {
    auto& row = a[static_cast<std::size_t>(i)];
    row[i] = 4 + 0.1 * (i % 5);
    if (i % n > 0) row[i - 1] = -1.7;
    if (i % n < n - 1) row[i + 1] = -0.3;
    if (i >= n) row[i - n] = -1.4;
    if (i + n < n * n) row[i + n] = -0.6;
  }
  return a;
}

/// The 5-point stencil on n×n points less `shift` on the diagonal, rows scaled alike from both
/// sides: symmetric; indefinite with a shift inside the spectrum, from 0 to 8.
inline ReferenceMatrix shifted_laplacian(int n, double shift) {
  ReferenceMatrix a(static_cast<std::size_t>(n * n));
  const auto scale = [](int i) { return 1 + 0.25 * (i % 3); };
  for (int i = 0; i < n * n; ++i) {
    auto& row = a[static_cast<std::size_t>(i)];
    const auto add = [&](int j, double value) { row[j] = value * scale(i) * scale(j); };
    add(i, 4 - shift);
    if (i % n > 0) add(i - 1, -1);
    if (i % n < n - 1) add(i + 1, -1);
    if (i >= n) add(i - n, -1);
    if (i + n < n * n) add(i + n, -1);
  }
  return a;
}

inline std::vector<double> some_vector(std::size_t size) {
  std::vector<double> b;
  for (std::size_t i = 0; i < size; ++i) b.push_back(static_cast<double>(i * i % 17) - 7.5);
  return b;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace weft::tests
