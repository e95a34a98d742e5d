#include "comm_thread/waiting/team_barrier.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "perfmodel/thread_trace.h"

namespace weft::comm_thread {
namespace {

/// On a shared core: polls before a waiting thread yields, and before it naps. It naps early where
/// others take long turns on the core.
constexpr std::uint64_t rounds_before_yield = 16;
constexpr std::uint64_t rounds_before_nap = 200;
constexpr std::uint64_t rounds_before_nap_in_a_crowd = 20;
/// A yield that takes longer has given the core to a thread that computes; so many naps are early.
constexpr std::chrono::microseconds long_turn{100};
constexpr int early_naps = 1000;
/// On a dedicated core: about 40 ms of polls, longer than any wait of a balanced run.
constexpr std::uint64_t rounds_before_nap_on_own_core = 1'000'000;
/// The first nap, and by how much each is longer than the one before: a wait is at most a tenth
/// longer for it, and a long one wakes up seldom.
constexpr std::chrono::microseconds nap_time{10};
constexpr std::chrono::microseconds nap_growth{5};
constexpr std::chrono::microseconds longest_nap{1000};

/// Shorter waits are not recorded.
constexpr std::int64_t shortest_wait_ns = 1000;

/// Early naps that are left to the calling thread.
thread_local int crowd = 0;

/// Nap number `count` of a wait, from 0. By default the kernel would add 50 µs.
void nap(std::uint64_t count) {
  [[maybe_unused]] static thread_local const int is_set = prctl(PR_SET_TIMERSLACK, 1000UL);
  const auto growth = std::min<std::uint64_t>(count, longest_nap / nap_growth) * nap_growth;
  std::this_thread::sleep_for(std::min<std::chrono::microseconds>(nap_time + growth, longest_nap));
  if (crowd > 0) --crowd;
}

/// Yields, and notices whether another thread computes on this core.
void yield_in_turn() {
  const auto begin = std::chrono::steady_clock::now();
  yield_core();
  if (std::chrono::steady_clock::now() - begin > long_turn) crowd = early_naps;
}

std::uint64_t polls_before_nap(WaitPolicy policy) {
  if (policy == WaitPolicy::spin) return rounds_before_nap_on_own_core;
  return crowd > 0 ? rounds_before_nap_in_a_crowd : rounds_before_nap;
}

}  // namespace

void relax(WaitPolicy policy, std::uint64_t round) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  const std::uint64_t before_nap = polls_before_nap(policy);
  if (round > before_nap)
    nap(round - before_nap - 1);
  else if (policy == WaitPolicy::yield && round > rounds_before_yield)
    yield_in_turn();
}

void yield_core() { syscall(SYS_sched_yield); }

void TeamBarrier::arrive_and_wait() {
  if (thread_count_ == 1) return;
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == thread_count_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    return;
  }
  auto* const trace = perfmodel::ThreadTrace::of_this_thread();
  const std::int64_t begin = trace ? perfmodel::ThreadTrace::now() : 0;
  for (std::uint64_t round = 0; generation_.load(std::memory_order_acquire) == generation;
       ++round) {
    if (broken_.load(std::memory_order_acquire)) throw TeamBroken();
    relax(policy_, round);
  }
  if (!trace) return;
  const std::int64_t end = perfmodel::ThreadTrace::now();
  if (end - begin > shortest_wait_ns)
    trace->record("team barrier", perfmodel::ThreadTrace::Kind::span, begin, end);
}

}  // namespace weft::comm_thread
