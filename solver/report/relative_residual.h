#pragma once

#include <cmath>

namespace weft::solver {

/// ‖r‖/‖b‖ from the sum of the squares of r; ‖r‖ where b is 0.
inline double relative_residual(double square_sum, double b_norm) {
  return std::sqrt(square_sum) / (b_norm > 0 ? b_norm : 1);
}

}  // namespace weft::solver
