#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "perfmodel/phase_times.h"

namespace weft::solver {

/// End of a solve. All of them are results, not errors. stopped: by KrylovMethod::Options::stops;
/// diverged: the residual exceeded StopCriterion::divergence; out_of_time: stopped by a limit.
enum class SolveStatus { converged, not_converged, breakdown, stopped, diverged, out_of_time };
const char* name(SolveStatus status);

/// Outcome of a solve on this rank; the same numbers on every rank except the times.
struct SolveReport {
  SolveStatus status = SolveStatus::not_converged;
  std::string explanation;  // of a breakdown: what was found; of others, what to know of them
  std::int64_t iterations = 0;
  std::int64_t restarts = 0;  // from the true residual, because a recurrence had gone astray
  double recurrence_residual = 0;  // ‖r_k‖/‖r_0‖ of the recurrence
  double relative_residual = 0;  // ‖b − A x‖/‖b‖, recomputed from x
  /// The same with each row of both divided by its scale, where rows differ in scale.
  std::optional<double> scaled_residual;
  int vectors_at_once = 1;  // solved for together: the times are those of all of them
  double solve_seconds = 0;
  double comm_thread_cpu_seconds = 0;
  double halved_residual = 0;  // the last that was half of the one before, and its iteration
  std::int64_t halved_iteration = 0;
  /// ‖b − A·x‖ where the recurrence last began again because that was too large.
  double verified_norm = std::numeric_limits<double>::infinity();
  perfmodel::PhaseTimes phases;  // of the iterations, as the primary compute thread saw them
};

}  // namespace weft::solver
