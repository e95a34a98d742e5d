#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::solver {

/// Why a solve ends where `is_out_of_range`.
inline constexpr const char* out_of_range =
    "the squares of b leave the range of double; scale the system";

/// Why a solve ends whose residual is not finite.
inline constexpr const char* not_finite =
    "the residual is not finite: values left the range of double, or of single precision in the "
    "preconditioner; scale the system";

/// True if the squares of residuals lose digits, or are 0, before the residual is `wanted_norm`:
/// nobody can tell when such a solve has converged. No residual falls below the rounding of b.
/// False where b is 0.
inline bool is_out_of_range(double b_norm, double wanted_norm) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const double least = std::max(wanted_norm, epsilon * b_norm);
  return b_norm > 0 && least * least < std::numeric_limits<double>::min() / epsilon;
}

/// ‖r‖/‖b‖ from the sum of the squares of r; ‖r‖ where b is 0.
inline double relative_residual(double square_sum, double b_norm) {
  return std::sqrt(square_sum) / (b_norm > 0 ? b_norm : 1);
}

}  // namespace weft::solver
