#pragma once

#include <atomic>
#include <exception>

namespace weft::comm_thread {

/// Something the communication thread attends to for as long as it is registered: a set of
/// channels, a continuous reduction, a termination detector.
///
/// Memory ordering: the first exception is written before the release store of `failed_` and read
/// after an acquire load that sees it.
class Service {
 public:
  virtual ~Service() = default;

  /// Looks once at everything it has in flight; true when anything moved. Must not block.
  /// Thread: the communication thread, from `CommThread::add_service` until `remove_service` has
  /// returned.
  virtual bool progress() = 0;

  /// `progress`, unless it has failed before; keeps what it throws. Thread: as `progress`.
  bool attend() {
    if (failed_.load(std::memory_order_relaxed)) return false;
    try {
      return progress();
    } catch (...) {
      error_ = std::current_exception();
      failed_.store(true, std::memory_order_release);
      return true;
    }
  }

  /// Throws what `progress` threw. Thread: any; owners that wait for the service call it.
  void rethrow_error() const {
    if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace weft::comm_thread
