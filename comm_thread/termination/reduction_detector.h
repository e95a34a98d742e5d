#pragma once

#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/message_space.h"
#include "comm_thread/termination/continuous_reduction.h"
#include "comm_thread/termination/detector.h"
#include "comm_thread/termination/reduction_protocol.h"

namespace weft::comm_thread {

/// Drives a ReductionProtocol with a continuous reduction: the detectors `residual`, `all-reduce`
/// and `snapshot`.
class ReductionDetector final : public Detector {
 public:
  /// Collective. Lifetime: inside that of `comm_thread`.
  ReductionDetector(const MessageSpace& space, CommThread& comm_thread,
                    const ReductionProtocol::Options& options, ContinuousReduction::Engine engine);

  bool progress(const SweepSignal& signal) override;
  SweepOrder order() const override { return protocol_.order(); }
  bool is_drained() const override { return reduction_.is_stopped(); }

 private:
  ReductionProtocol protocol_;
  SweepSignal signal_;
  ContinuousReduction reduction_;
  std::vector<double> taken_;  // last contribution of this rank
  std::vector<double> offered_;  // its current contribution
};

}  // namespace weft::comm_thread
