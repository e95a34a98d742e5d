#pragma once

#include <cstdint>
#include <limits>

namespace weft::comm_thread {

/// Signal of the sweeping thread of a rank to its detector after every sweep.
///
/// Epochs count the attempts to end: 1 until the first verification, one more after each that
/// failed. Snapshots count through the whole run.
struct SweepSignal {
  std::uint64_t epoch = 1;
  double contribution = std::numeric_limits<double>::infinity();  // of a sweep of this epoch
  bool is_converged = false;  // locally, in this epoch
  bool gives_up = false;
  std::uint64_t evaluated_snapshot = 0;  // the newest
  double snapshot_contribution = 0;  // of that snapshot
  bool has_ended = false;  // the run has, agreed by all
};

/// Conclusion of a detector about one epoch.
enum class Verdict : std::uint8_t { none, converged, gave_up };

/// Order of the detector to the sweeping thread: equal on all ranks, but not at the same time.
struct SweepOrder {
  std::uint64_t epoch = 1;
  Verdict verdict = Verdict::none;  // anything else: verify
  std::uint64_t snapshot = 0;  // the newest to be recorded

  bool operator==(const SweepOrder&) const = default;
};

}  // namespace weft::comm_thread
