#pragma once

#include "comm_thread/termination/sweep_signal.h"

namespace weft::comm_thread {

/// The communication thread's side of termination detection on one rank: moves what the protocols
/// say between the ranks.
///
/// Thread: the communication thread, once constructed.
class Detector {
 public:
  virtual ~Detector() = default;

  /// Looks once at everything under way; true when anything moved. `signal`: the newest of this
  /// rank. Throws MpiError.
  virtual bool progress(const SweepSignal& signal) = 0;

  virtual SweepOrder order() const = 0;

  /// Whether nothing is under way, to or from this rank, and nothing will be. Only after a signal
  /// that says that the run has ended.
  virtual bool is_drained() const = 0;
};

}  // namespace weft::comm_thread
