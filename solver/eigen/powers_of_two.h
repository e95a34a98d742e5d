#pragma once

#include <algorithm>
#include <cmath>

namespace weft::solver {

/// A power of two, at least `value`; 1 for what is not above 0 or not finite.
inline double power_above(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 1;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::min(exponent, 1023));
}

}  // namespace weft::solver
