#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft::solver {

/// End of an iteration: ‖r_k‖ < tolerance·‖b‖ or ‖r_k‖ < absolute_tolerance, after
/// `max_iterations`, or as diverged where ‖r_k‖ > divergence·‖b‖.
struct StopCriterion {
  double tolerance = 1e-8;
  std::int64_t max_iterations = 10000;
  double absolute_tolerance = 0;
  double divergence = std::numeric_limits<double>::infinity();

  /// The norm below which the residual is small enough.
  double wanted_norm(double first_residual_norm) const {
    return std::max(tolerance * first_residual_norm, absolute_tolerance);
  }

  bool is_met(double residual_norm, double first_residual_norm) const {
    return residual_norm < wanted_norm(first_residual_norm) || residual_norm == 0;
  }

  /// How many more iterations it takes if the residual goes on falling as it has in the first
  /// `iterations`; where it has not fallen, up to the limit.
  std::int64_t expected_iterations(std::int64_t iterations, double residual_norm,
                                   double first_residual_norm) const {
    const double left = static_cast<double>(max_iterations - iterations);
    if (!(residual_norm < first_residual_norm)) return max_iterations - iterations;
    const double wanted = std::log(wanted_norm(first_residual_norm) / first_residual_norm);
    const double reached = std::log(residual_norm / first_residual_norm);
    const double more = static_cast<double>(iterations) * (wanted / reached - 1);
    return static_cast<std::int64_t>(std::clamp(more, 0.0, std::max(left, 0.0)));
  }
};

}  // namespace weft::solver
