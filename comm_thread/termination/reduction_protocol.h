#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/mpi/reduce_operation.h"
#include "comm_thread/termination/sweep_signal.h"

namespace weft::comm_thread {

/// Conclusions of every rank from the results of a continuous reduction: pure logic, no messages,
/// no threads.
///
/// All ranks see the same results in the same rounds, so all are in the same state in the same
/// round, and a conclusion of one is the conclusion of all.
///
///     without snapshots   watching ──estimate ≤ threshold──► converged
///     with snapshots      watching ──estimate ≤ threshold──► snapshot open
///                            ▲                                    │ all ranks ready
///                            └──────snapshot > threshold──────────┴──snapshot ≤ threshold──►
///                            converged
///
/// The estimate adds contributions of different times, computed from neighbours' values of still
/// other times: it may be too large or too small. A snapshot is one global vector, each rank's part
/// recorded once, and its value is computed from that vector alone: it is exact for that vector.
/// Source: Bethune et al. 2012, section 3.1.2 (without); Magoulès, Gbikpi-Benissan 2018, "JACK2"
/// (with).
class ReductionProtocol {
 public:
  struct Options {
    double threshold = 0;
    ReduceOperation operation = ReduceOperation::sum;  // or max
    int rank_count = 1;
    bool confirms_by_snapshot = false;
  };

  explicit ReductionProtocol(const Options& options) : options_(options) {}

  /// One for each number that has to be reduced.
  std::vector<ReduceOperation> operations() const;

  /// This rank's contribution to the next round. NaN counts as infinite.
  /// Shape: as `operations`.
  void fill_contribution(const SweepSignal& signal, std::span<double> values) const;

  /// Concludes from the result of the next round. No further round may begin on any verdict.
  void take_result(std::span<const double> values);

  /// Begins the epoch of `signal` after a failed verification.
  void resume(const SweepSignal& signal);

  const SweepOrder& order() const { return order_; }
  bool is_snapshot_open() const { return is_snapshot_open_; }

 private:
  enum Component : std::size_t { estimate, give_ups, snapshot, snapshots_ready };

  Options options_;
  SweepOrder order_;
  bool is_snapshot_open_ = false;
};

}  // namespace weft::comm_thread
