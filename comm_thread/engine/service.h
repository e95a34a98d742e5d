#pragma once

#include <atomic>
#include <exception>

namespace weft::comm_thread {

/// Object that the communication thread progresses while it is registered: a set of channels, a
/// continuous reduction, a termination detector.
///
/// Memory ordering: the first exception is written before the release store of `failed_` and read
/// after an acquire load that sees it.
class Service {
 public:
  virtual ~Service() = default;

  /// Polls all its operations in flight once; returns true if one made progress. Must not block.
  /// Thread: the communication thread, from `CommThread::add_service` until `remove_service` has
  /// returned.
  virtual bool progress() = 0;

  /// Calls `progress` unless it has failed before; stores its exception. Thread: as `progress`.
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

  /// Throws the exception of `progress`. Thread: any; owners that wait for the service call it.
  void rethrow_error() const {
    if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace weft::comm_thread
