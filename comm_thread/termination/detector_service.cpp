#include "comm_thread/termination/detector_service.h"

#include <chrono>

namespace weft::comm_thread {

bool DetectorService::progress() {
  const SweepSignal& signal = signals_.read();
  const bool moved = detector_->progress(signal);
  const SweepOrder order = detector_->order();
  if (order != published_) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    orders_.write({order, std::chrono::duration<double>(now).count()});
    published_ = order;
  }
  if (signal.has_ended && !is_drained() && detector_->is_drained())
    is_drained_.store(true, std::memory_order_release);
  return moved;
}

}  // namespace weft::comm_thread
