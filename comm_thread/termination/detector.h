#pragma once

#include "comm_thread/termination/sweep_signal.h"

namespace weft::comm_thread {

/// Communication thread's side of termination detection on one rank: exchanges the messages of the
/// protocols between the ranks.
///
/// Thread: the communication thread, once constructed.
class Detector {
 public:
  virtual ~Detector() = default;

  /// Polls all operations in flight once; returns true if one made progress. `signal`: the newest
  /// of this rank. Throws MpiError.
  virtual bool progress(const SweepSignal& signal) = 0;

  virtual SweepOrder order() const = 0;

  /// True if no message to or from this rank is in flight and none will be. Only after a signal
  /// that the run has ended.
  virtual bool is_drained() const = 0;
};

}  // namespace weft::comm_thread
