#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm_thread/termination/detection_report.h"
#include "solver/report/solve_report.h"

namespace weft::solver {

/// Time of this rank's primary thread by kind of work, in seconds.
struct IterationTimes {
  double sweep = 0;  // work on the rank's rows
  double pack = 0;  // copying to and from message buffers
  double wait = 0;  // for halos
  double reduction = 0;  // global residuals, termination detection
  double injected = 0;  // pauses that were asked for

  double total() const { return sweep + pack + wait + reduction + injected; }
};

/// "sweep", "pack", "wait", "reduction", "injected".
inline const char* name(double IterationTimes::* part) {
  if (part == &IterationTimes::sweep) return "sweep";
  if (part == &IterationTimes::pack) return "pack";
  if (part == &IterationTimes::wait) return "wait";
  return part == &IterationTimes::reduction ? "reduction" : "injected";
}

/// Number of occurrences of each value. Values beyond ±256 are rounded towards 0 to 8 binary
/// digits, so that there are never more than some thousand.
using Histogram = std::map<std::int64_t, std::uint64_t>;

/// The residual ‖b − A·x‖/‖b‖ as known at some moment of a run.
struct HistoryPoint {
  double seconds = 0;
  double residual = 0;
};

/// Outcome of a stationary iteration. Status, residual, history and detection are the same on every
/// rank, the rest is that of this rank.
struct IterationReport {
  SolveStatus status = SolveStatus::not_converged;
  std::string explanation;  // of a breakdown: what was found
  std::int64_t iterations = 0;  // sweeps of this rank
  double relative_residual = 0;  // ‖b − A x‖/‖b‖, recomputed from x with fresh halos
  double seconds = 0;
  double comm_thread_cpu_seconds = 0;
  IterationTimes times;
  std::vector<HistoryPoint> history;
  std::vector<HistoryPoint> own_history;  // of this rank's rows alone, with the halos in use

  // Asynchronous runs only.
  /// Own sweeps so far minus the sweeps that a neighbour had made when it sent the data in use,
  /// counted for each neighbour once a sweep; below 0 where the neighbour is ahead.
  Histogram staleness;
  /// Messages that had come since the last look, counted where any had: 1 means none was discarded.
  Histogram batches;
  std::uint64_t sent_count = 0;
  std::uint64_t received_count = 0;
  std::uint64_t skipped_count = 0;  // sends left out because the channel was full
  int halo_period = 1;  // as used at the end
  std::optional<comm_thread::DetectionReport> detection;
};

}  // namespace weft::solver
