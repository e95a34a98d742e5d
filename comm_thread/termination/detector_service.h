#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "comm_thread/channels/newest_value.h"
#include "comm_thread/engine/clock.h"
#include "comm_thread/engine/service.h"
#include "comm_thread/termination/detector.h"
#include "comm_thread/termination/sweep_signal.h"

namespace weft::comm_thread {

/// An order and the time at which this rank received it.
struct TimedOrder {
  SweepOrder order;
  double seconds = 0;  // of the clock
};

/// Runs a detector on the communication thread and exchanges signals and orders with the sweeping
/// thread, which never waits for it.
///
/// Memory ordering: signals and orders pass through NewestValue; `is_drained_` is stored with
/// release after the detector's last action.
class DetectorService final : public Service {
 public:
  /// `clock`: outlives it.
  DetectorService(std::unique_ptr<Detector> detector, const Clock& clock)
      : detector_(std::move(detector)), clock_(clock) {}

  bool progress() override;

  /// Thread: the sweeping thread.
  void publish(const SweepSignal& signal) { signals_.write(signal); }
  const TimedOrder& newest_order() { return orders_.read(); }

  /// Leaves the detector allocated forever, with its operations in flight.
  void abandon() { static_cast<void>(detector_.release()); }

  /// True if the run has ended and the detector has no operation in flight. Thread: any.
  bool is_drained() const { return is_drained_.load(std::memory_order_acquire); }

 private:
  std::unique_ptr<Detector> detector_;
  const Clock& clock_;
  NewestValue<SweepSignal> signals_{SweepSignal{}};
  NewestValue<TimedOrder> orders_{TimedOrder{}};
  SweepOrder published_;
  std::atomic<bool> is_drained_{false};
};

}  // namespace weft::comm_thread
