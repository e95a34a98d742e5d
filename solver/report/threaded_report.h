#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/termination/contribution_history.h"
#include "comm_thread/termination/detection_report.h"
#include "solver/report/iteration_report.h"

namespace weft::solver {

/// Outcome of a ThreadedIteration, of all threads and of each.
struct ThreadedReport {
  /// Of the process: the iterations are those of the thread that made most, the times those of
  /// thread 0, what was exchanged is that of all threads. A message is what a thread
  /// passes to one neighbour after a sweep.
  IterationReport whole;
  std::vector<std::int64_t> iterations;  // [threads]
  std::vector<IterationTimes> times;  // [threads]
};

/// A thread's contribution to the residual, and the time at which it stopped sweeping.
struct ThreadHistory {
  comm_thread::ContributionHistory squares;  // its part of ‖b − A·x‖²; seconds of the run
  double stopped_seconds = 0;  // the last time
  std::uint64_t sweep_count = 0;
};

/// The residual of all threads together at up to 64 moments, from what each had contributed last,
/// in the end `end_residual`. Moments before all had contributed are left out.
std::vector<HistoryPoint> residual_history(std::span<const ThreadHistory> threads,
                                           double end_seconds, double end_residual, double b_norm);

/// Times at which the threads stopped and could have stopped, and the sweeps between. `threshold`:
/// of the sum of the squares.
comm_thread::DetectionReport detection_report(std::span<const ThreadHistory> threads,
                                              double threshold);

}  // namespace weft::solver
