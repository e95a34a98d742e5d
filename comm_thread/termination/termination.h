#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/message_space.h"
#include "comm_thread/mpi/reduce_operation.h"
#include "comm_thread/termination/contribution_history.h"
#include "comm_thread/termination/detection_report.h"
#include "comm_thread/termination/detector.h"
#include "comm_thread/termination/detector_kind.h"
#include "comm_thread/termination/detector_service.h"
#include "comm_thread/termination/sweep_protocol.h"

namespace weft::comm_thread {

/// Ends an iteration whose ranks do not wait for each other, in agreement and never unverified.
///
///     while (true) {
///       sweep();
///       switch (termination.after_sweep({contribution, is_converged, gives_up, iteration})) {
///         case SweepAction::sweep: continue;
///         case SweepAction::record_snapshot:    // recorded = x;
///           pack(recorded, termination.snapshot_send_buffer());
///           termination.snapshot_recorded();
///           continue;
///         case SweepAction::evaluate_snapshot:  // sweeps went on meanwhile
///           termination.snapshot_evaluated(contribution_of(recorded,
///           termination.snapshot_halo())); continue;
///         case SweepAction::verify:             // all ranks come here
///           refresh_halo();                     // synchronously
///           if (termination.collective_verified(reproducible_sum(true_contribution()))) return;
///       }
///     }
///
/// All signals are moved by the communication thread, so a rank in a long sweep does not hold up
/// what passes through it. Contributions are whatever is not negative and falls to the threshold;
/// where any of them is above it after a verdict, the iteration goes on.
///
/// Thread: one, the sweeping one. Lifetime: inside that of `comm_thread`; the run has ended before
/// it is destroyed, unless by an exception.
/// Source: docs/design/termination.md; FlagTree and ReductionProtocol name theirs.
class Termination {
 public:
  struct Options {
    DetectorKind detector = DetectorKind::snapshot;
    /// Threshold for the contributions of all ranks together.
    double threshold = 0;
    ReduceOperation operation = ReduceOperation::sum;  // or max
    /// Destinations and sources of this rank's part of a snapshot, as in HaloExchange. Needed for
    /// `snapshot` only.
    std::span<const HaloNeighbour> neighbours{};
    /// Samples kept for the report.
    std::size_t history_capacity = ContributionHistory::capacity;
  };

  /// Begins the run on all ranks at the same time. Collective: duplicates the communicator.
  Termination(const Communicator& communicator, CommThread& comm_thread, const Options& options);

  /// Begins the run on this rank. Collective as `collective_duplicate_space`; does not wait for
  /// the other ranks otherwise. `detector`: replaces Options::detector, which then is not
  /// `snapshot`.
  Termination(const MessageSpace& space, CommThread& comm_thread, const Options& options,
              std::unique_ptr<Detector> detector = nullptr);
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  /// Call after every sweep; returns the action before the next one. If any rank gives up, all are
  /// told to verify a last time; until then all continue.
  /// Throws MpiError if the detection has failed.
  SweepAction after_sweep(const SweepState& state);

  /// Values of this rank's recorded part for the neighbours. Shape: covered by the neighbours' send
  /// ranges.
  std::span<double> snapshot_send_buffer();

  /// Call after `record_snapshot`, with the send buffer filled in.
  void snapshot_recorded();

  /// The neighbours' recorded values, until the next sweep. Shape: covered by the neighbours'
  /// receive ranges.
  std::span<const double> snapshot_halo() const { return snapshot_exchange_->received(); }

  /// Call after `evaluate_snapshot`, with this rank's contribution computed from recorded values
  /// only.
  void snapshot_evaluated(double contribution);

  /// Call after `verify`. `true_value`: the contributions of all ranks with fresh halos together,
  /// the same bits on all ranks. Returns true if the run has ended; otherwise sweeping continues.
  bool collective_verified(double true_value);

  /// The same for callers that may not wait: they come only once `can_verify`, and if the run has
  /// ended they go on until `is_drained` and then call `detach`.
  bool verified(double true_value);
  /// True if no snapshot is open any more on this rank.
  bool can_verify() const { return !snapshot_ || snapshot_->test(); }
  /// True if no signal of the detection is in flight any more on this rank.
  bool is_drained() const { return service_.is_drained(); }
  void detach();

  /// True if the run ended with a true value within the threshold; false if a rank gave up.
  bool has_converged() const { return protocol_.has_converged(); }

  /// Returns the report; call after the end. `communicator`: the ranks of the run.
  DetectionReport collective_report(const Communicator& communicator);

  /// What the detector has found so far.
  std::uint64_t epoch() const { return protocol_.signal().epoch; }

 private:
  void abandon() noexcept;
  std::unique_ptr<Detector> collective_make_detector(const Options& options);
  double seconds_now() const;
  double collective_true_seconds(double terminated_seconds);
  void leave();

  std::unique_ptr<MessageSpace> space_;
  CommThread& comm_thread_;
  int exceptions_at_start_;
  double threshold_;
  ReduceOperation operation_;
  SweepProtocol protocol_;
  std::unique_ptr<HaloExchange<double>> snapshot_exchange_;  // with the snapshot detector
  std::optional<Pending> snapshot_;  // the last one
  DetectorService service_;
  bool is_registered_ = false;

  ContributionHistory history_;
  double began_ = 0;  // of the clock
  double fired_seconds_ = 0;
  double terminated_seconds_ = 0;
  std::uint64_t iteration_ = 0;
};

}  // namespace weft::comm_thread
