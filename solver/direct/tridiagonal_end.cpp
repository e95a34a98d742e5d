#include "solver/direct/tridiagonal_end.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace weft::solver {
namespace {

/// A pivot that may be divided by.
double safe(double pivot, double least) { return std::abs(pivot) < least ? least : pivot; }

/// Below it pivots are rounding.
double least_pivot(std::span<const double> diagonal, std::span<const double> off_diagonal) {
  double most = 0;
  for (std::size_t i = 0; i < diagonal.size(); ++i)
    most = std::max(most, std::abs(diagonal[i]) + (i > 0 ? std::abs(off_diagonal[i - 1]) : 0.0));
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  return std::max(most * epsilon * epsilon, std::numeric_limits<double>::min());
}

}  // namespace

double tridiagonal_value(std::span<const double> diagonal, std::span<const double> off_diagonal,
                         int number) {
  const std::size_t size = diagonal.size();
  const double least = least_pivot(diagonal, off_diagonal);
  double lower = HUGE_VAL;
  double upper = -HUGE_VAL;
  for (std::size_t i = 0; i < size; ++i) {
    const double radius = (i > 0 ? std::abs(off_diagonal[i - 1]) : 0.0) +
                          (i + 1 < size ? std::abs(off_diagonal[i]) : 0.0);
    lower = std::min(lower, diagonal[i] - radius);
    upper = std::max(upper, diagonal[i] + radius);
  }
  for (;;) {
    const double middle = lower + (upper - lower) / 2;
    if (!(middle > lower && middle < upper)) return middle;
    int below = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < size; ++i) {
      const double coupling = i > 0 ? off_diagonal[i - 1] : 0.0;
      pivot = safe(diagonal[i] - middle - coupling / pivot * coupling, least);
      if (pivot < 0) ++below;
    }
    (below > number ? upper : lower) = middle;
  }
}

TridiagonalPair tridiagonal_pair(std::span<const double> diagonal,
                                 std::span<const double> off_diagonal, int number) {
  const std::size_t size = diagonal.size();
  TridiagonalPair pair{.value = tridiagonal_value(diagonal, off_diagonal, number), .vector = {}};
  const double least = least_pivot(diagonal, off_diagonal);
  std::vector<double> from_first(size);
  std::vector<double> from_last(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double coupling = i > 0 ? off_diagonal[i - 1] : 0.0;
    const double before = i > 0 ? from_first[i - 1] : 1.0;
    from_first[i] = safe(diagonal[i] - pair.value - coupling / before * coupling, least);
  }
  for (std::size_t i = size; i-- > 0;) {
    const double coupling = i + 1 < size ? off_diagonal[i] : 0.0;
    const double after = i + 1 < size ? from_last[i + 1] : 1.0;
    from_last[i] = safe(diagonal[i] - pair.value - coupling / after * coupling, least);
  }
  std::size_t meeting = 0;
  double smallest = HUGE_VAL;
  for (std::size_t i = 0; i < size; ++i) {
    const double left = std::abs(from_first[i] + from_last[i] - (diagonal[i] - pair.value));
    if (left < smallest) {
      smallest = left;
      meeting = i;
    }
  }
  pair.vector.assign(size, 0.0);
  pair.vector[meeting] = 1;
  for (std::size_t i = meeting; i-- > 0;)
    pair.vector[i] = -off_diagonal[i] * pair.vector[i + 1] / from_first[i];
  for (std::size_t i = meeting + 1; i < size; ++i)
    pair.vector[i] = -off_diagonal[i - 1] * pair.vector[i - 1] / from_last[i];
  double square = 0;
  for (const double entry : pair.vector) square += entry * entry;
  for (double& entry : pair.vector) entry /= std::sqrt(square);
  return pair;
}

}  // namespace weft::solver
