#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace weft::comm_thread {

/// A thread that runs one task in the background whenever it is asked to, such as writing a file,
/// which would keep the communication thread from its messages.
///
/// It yields its core to the threads that compute (nice value 10), and sleeps between the tasks.
///
/// Memory ordering: `start` publishes what its caller wrote by a release store to `state_`, which
/// the thread reads with acquire; what the task wrote comes back in the same way.
/// Thread: one at a time. Lifetime: the destructor waits for a task that runs.
class HelperThread {
 public:
  /// `on_start`: called first in the new thread: pins it. `task` must not throw.
  HelperThread(std::function<void()> on_start, std::function<void()> task);
  ~HelperThread();
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  /// Runs the task once and returns at once. The task is not running.
  void start();
  bool is_busy() const { return state_.load(std::memory_order_acquire) == State::busy; }
  /// Returns when no task runs.
  void wait() const { state_.wait(State::busy, std::memory_order_acquire); }

 private:
  enum class State : std::uint32_t { idle, busy, stopping };

  void run();

  std::function<void()> on_start_;
  std::function<void()> task_;
  std::atomic<State> state_{State::idle};
  std::jthread thread_;
};

}  // namespace weft::comm_thread
