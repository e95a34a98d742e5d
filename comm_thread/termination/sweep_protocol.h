#pragma once

#include <cstdint>

#include "comm_thread/termination/sweep_signal.h"

namespace weft::comm_thread {

/// State of one rank after its last sweep.
struct SweepState {
  /// This rank's part of the value compared with the threshold: not negative, from the newest
  /// values of the neighbours.
  double contribution = 0;
  bool is_converged = false;  // the local criterion holds
  bool gives_up = false;  // this rank wants the run to end, converged or not
  std::uint64_t iteration = 0;
};

/// Action of a rank before its next sweep.
enum class SweepAction { sweep, record_snapshot, evaluate_snapshot, verify };

/// The sweeping side of termination detection on one rank: pure logic, no messages, no threads.
///
///     sweep ─► record snapshot ─► sweep … ─► evaluate snapshot ─► sweep … ─► verify ─► end
///       ▲                                                                      │
///       └────────────────────────────── failed: next epoch ────────────────────┘
///
/// A run ends in `verified` only: never without verification, whatever a detector said.
class SweepProtocol {
 public:
  explicit SweepProtocol(double threshold) : threshold_(threshold) {}

  /// Returns the next action. `snapshot_has_arrived`: the neighbours' values of the last recorded
  /// snapshot have arrived. Snapshots are recorded even if a verdict is known, because neighbours
  /// wait for them.
  SweepAction after_sweep(const SweepState& state, const SweepOrder& order,
                          bool snapshot_has_arrived);

  /// Call after `record_snapshot`.
  void snapshot_recorded() { ++recorded_snapshot_; }

  /// Call after `evaluate_snapshot`, with this rank's part of the value compared with the
  /// threshold.
  void snapshot_evaluated(double contribution);

  /// Call after `verify`, with the value of the true global state, the same on all ranks. Returns
  /// true if the run has ended; otherwise the next epoch begins.
  bool verified(double true_value);

  const SweepSignal& signal() const { return signal_; }
  std::uint64_t recorded_snapshot() const { return recorded_snapshot_; }
  bool has_converged() const { return has_converged_; }

 private:
  double threshold_;
  SweepSignal signal_;
  Verdict verdict_ = Verdict::none;  // being verified
  std::uint64_t recorded_snapshot_ = 0;
  bool has_converged_ = false;
};

}  // namespace weft::comm_thread
