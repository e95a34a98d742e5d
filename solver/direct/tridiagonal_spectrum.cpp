#include "solver/direct/tridiagonal_spectrum.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace weft::solver {
namespace {

/// End of the block that begins at `begin`: at the first off-diagonal entry that is as good as
/// 0.
std::size_t block_end(const std::vector<double>& d, const std::vector<double>& e,
                      std::size_t begin) {
  std::size_t end = begin;
  while (end + 1 < d.size() && std::abs(e[end]) > std::numeric_limits<double>::epsilon() *
                                                      (std::abs(d[end]) + std::abs(d[end + 1])))
    ++end;
  return end;
}

/// Turns columns k and k + 1 of rows of n entries.
void rotate(std::vector<double>& vectors, std::size_t n, std::size_t k, double c, double s) {
  for (std::size_t begin = 0; begin < vectors.size(); begin += n) {
    double* const pair = vectors.data() + begin + k;
    const double next = pair[1];
    pair[1] = s * pair[0] + c * next;
    pair[0] = c * pair[0] - s * next;
  }
}

/// One implicit QL step with Wilkinson's shift on rows begin … end.
void step(std::vector<double>& d, std::vector<double>& e, std::vector<double>& vectors,
          std::size_t begin, std::size_t end) {
  const double half = (d[begin + 1] - d[begin]) / (2 * e[begin]);
  const double length = std::hypot(half, 1.0);
  double g = d[end] - d[begin] + e[begin] / (half + std::copysign(length, half));
  double s = 1, c = 1, p = 0;
  for (std::size_t i = end; i-- > begin;) {
    const double f = s * e[i];
    const double b = c * e[i];
    const double r = std::hypot(f, g);
    if (i + 1 < end) e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      e[end] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    const double t = (d[i] - g) * s + 2 * c * b;
    p = s * t;
    d[i + 1] = g + p;
    g = c * t - b;
    rotate(vectors, d.size(), i, c, s);
  }
  d[begin] -= p;
  e[begin] = g;
}

/// Makes the matrix diagonal, and turns rows of n entries with it.
void diagonalise(std::vector<double>& diagonal, std::vector<double>& off_diagonal,
                 std::vector<double>& rows) {
  off_diagonal.resize(diagonal.size());
  for (std::size_t begin = 0; begin < diagonal.size(); ++begin)
    for (std::size_t end = block_end(diagonal, off_diagonal, begin); end != begin;
         end = block_end(diagonal, off_diagonal, begin)) {
      step(diagonal, off_diagonal, rows, begin, end);
      off_diagonal[end] = 0;
    }
}

}  // namespace

TridiagonalSpectrum tridiagonal_spectrum(std::vector<double> diagonal,
                                         std::vector<double> off_diagonal) {
  const std::size_t n = diagonal.size();
  std::vector<double> vectors(n * n);
  for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  diagonalise(diagonal, off_diagonal, vectors);
  return {std::move(diagonal), std::move(vectors)};
}

TridiagonalEnds tridiagonal_ends(std::vector<double> diagonal, std::vector<double> off_diagonal) {
  const std::size_t n = diagonal.size();
  std::vector<double> rows(2 * n);
  if (n > 0) rows.front() = rows.back() = 1;
  diagonalise(diagonal, off_diagonal, rows);
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(n);
  return {std::move(diagonal), {rows.begin(), middle}, {middle, rows.end()}};
}

}  // namespace weft::solver
