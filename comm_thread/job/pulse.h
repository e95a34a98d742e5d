#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace weft::comm_thread {

/// A thread that calls `beat` once a period, from the beginning on, while the process runs: a sign
/// of life for whoever watches, whatever the other threads wait for. It sleeps between two beats.
///
/// Thread: one at a time. Lifetime: the destructor waits for a beat in progress.
class Pulse {
 public:
  /// `beat` must neither throw nor block.
  Pulse(std::chrono::milliseconds period, std::function<void()> beat);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

 private:
  void run();

  std::chrono::milliseconds period_;
  std::function<void()> beat_;
  std::mutex mutex_;
  std::condition_variable is_over_;
  bool ends_ = false;
  std::jthread thread_;
};

}  // namespace weft::comm_thread
