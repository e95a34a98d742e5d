#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace weft::comm_thread {

/// What a thread does while it waits: on a core of its own it spins, elsewhere it soon yields.
enum class WaitPolicy { spin, yield };

/// Tells the processor that this is a waiting loop, then, depending on `policy` and on how long it
/// has been waiting (`round` counts the calls since waiting began), lets others run: first by
/// yielding, later by naps of about 15 µs.
///
/// Measured on two cores: with two ranks' worth of threads on one core, spinning alone makes a
/// 5 ms exchange take 11 ms; a yield on every look costs 2 % of that. But nobody may yield without
/// end: Linux 6.18 takes a time slice of future running time for every yield, so that a thread that
/// had yielded for a second was then not run for a minute while others wanted its core. A nap
/// clears that debt.
void relax(WaitPolicy policy, std::uint64_t round);

/// Thrown in the threads that wait for one that will not come, because it threw.
class TeamBroken : public std::runtime_error {
 public:
  TeamBroken() : std::runtime_error("another thread of the team failed") {}
};

/// Holds the threads of a compute team until all have arrived.
///
/// Memory ordering: everything written before `arrive_and_wait` by any thread is visible after it
/// to every thread. Arrivals are acq_rel read-modify-writes of `arrived_`; the last one publishes
/// the new generation with release, the others read it with acquire.
class TeamBarrier {
 public:
  TeamBarrier(int thread_count, WaitPolicy policy) : thread_count_(thread_count), policy_(policy) {}

  /// Thread: every thread of the team, once per generation. Throws TeamBroken after `break_up`.
  void arrive_and_wait();

  /// Releases all who wait, and whoever will: called by a thread that fails between two barriers.
  void break_up() { broken_.store(true, std::memory_order_release); }

 private:
  const int thread_count_;
  const WaitPolicy policy_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
  std::atomic<bool> broken_{false};
};

}  // namespace weft::comm_thread
