#pragma once

#include <cstdint>

namespace weft::comm_thread {

/// Report on the detection of the end of an asynchronous run, the same on all ranks. Times are in
/// seconds since the detection began.
struct DetectionReport {
  bool has_converged = false;  // otherwise a rank gave up
  std::uint64_t fired_count = 0;  // verdicts, each followed by a verification
  std::uint64_t failed_verification_count = 0;
  double fired_seconds = 0;  // when the first rank knew of the last verdict
  /// Time from which the contributions of all ranks stayed within the threshold;
  /// `terminated_seconds` if they never did. Resolution: 1/1024 of the run.
  double true_seconds = 0;
  double terminated_seconds = 0;  // when the last rank stopped sweeping for good
  double delay_seconds = 0;  // from true to terminated
  // Sweeps of a rank after `true_seconds`.
  double fewest_wasted_sweeps = 0;
  double mean_wasted_sweeps = 0;
  double most_wasted_sweeps = 0;
};

}  // namespace weft::comm_thread
