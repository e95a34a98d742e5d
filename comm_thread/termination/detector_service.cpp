#include "comm_thread/termination/detector_service.h"

namespace weft::comm_thread {

bool DetectorService::progress() {
  const SweepSignal& signal = signals_.read();
  const bool moved = detector_->progress(signal);
  const SweepOrder order = detector_->order();
  if (order != published_) {
    orders_.write({order, clock_.seconds()});
    published_ = order;
  }
  if (signal.has_ended && !is_drained() && detector_->is_drained())
    is_drained_.store(true, std::memory_order_release);
  return moved;
}

}  // namespace weft::comm_thread
