#pragma once

namespace weft::solver {

/// A row's sum, 0 where it is what rounding leaves of the diagonal.
inline double without_rounding(double sum, double diagonal) {
  constexpr double rounding = 1e-14;
  return sum <= rounding * diagonal ? 0 : sum;
}

}  // namespace weft::solver
