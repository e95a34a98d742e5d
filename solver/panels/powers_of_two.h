#pragma once

#include <algorithm>
#include <cmath>

namespace weft::solver {

/// A power of two, at least `value` as far as it and its reciprocal are doubles; 1 for what is not
/// above 0 or not finite.
inline double power_above(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 1;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::clamp(exponent, -1021, 1023));
}

}  // namespace weft::solver
