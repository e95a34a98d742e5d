#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace weft::comm_thread {

/// Behaviour of a waiting thread: `spin` on a dedicated core, `yield` on a shared one.
enum class WaitPolicy { spin, yield };

/// Waits a moment in a polling loop; `round` counts the calls since the wait began. Signals the
/// waiting loop to the processor, then, depending on `policy` and `round`, yields and later naps,
/// for 10 µs at first and for up to 1 ms in the end.
///
/// Measured on two cores: with the threads of two ranks on one core, pure spinning makes a 5 ms
/// exchange take 11 ms; a yield on every poll costs 2 % of that. But yielding is harmful where the
/// core is busy: Linux 6.18 charges a time slice of future running time for every yield, so a
/// thread that had yielded for a second was not run for a minute while others wanted its core. A
/// nap clears that debt. So a thread naps early while its yields let others compute. The threads of
/// three ranks on two busy cores then solve in 1.4 s instead of 75 s, of which the kernel took 69;
/// on cores that nobody else wants, yields answer sooner than naps.
void relax(WaitPolicy policy, std::uint64_t round);

/// Lets a thread run that waits for this core. Not `sched_yield`, which replaced_functions
/// replaces.
void yield_core();

/// Thrown in threads that wait for a thread that has thrown.
class TeamBroken : public std::runtime_error {
 public:
  TeamBroken() : std::runtime_error("another thread of the team failed") {}
};

/// Barrier of the threads of a compute team.
///
/// Memory ordering: everything written before `arrive_and_wait` by any thread is visible after it
/// to every thread. Arrivals are acq_rel read-modify-writes of `arrived_`; the last one publishes
/// the new generation with release, the others read it with acquire.
class TeamBarrier {
 public:
  TeamBarrier(int thread_count, WaitPolicy policy) : thread_count_(thread_count), policy_(policy) {}

  /// Thread: every thread of the team, once per generation. Throws TeamBroken after `break_up`.
  void arrive_and_wait();

  /// Releases all present and later waiters: called by a thread that fails between two barriers.
  void break_up() { broken_.store(true, std::memory_order_release); }

 private:
  const int thread_count_;
  const WaitPolicy policy_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  std::atomic<bool> broken_{false};
};

}  // namespace weft::comm_thread
