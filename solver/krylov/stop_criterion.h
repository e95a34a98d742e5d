#pragma once

#include <cstdint>

namespace weft::solver {

/// End of an iteration: ‖r_k‖ < tolerance·‖r_0‖, or after `max_iterations`.
struct StopCriterion {
  double tolerance = 1e-8;
  std::int64_t max_iterations = 10000;

  bool is_met(double residual_norm, double first_residual_norm) const {
    return residual_norm < tolerance * first_residual_norm || residual_norm == 0;
  }
};

}  // namespace weft::solver
