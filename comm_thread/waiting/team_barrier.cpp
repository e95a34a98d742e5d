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

/// On a shared core: polls before a waiting thread yields, and before it naps.
constexpr std::uint64_t rounds_before_yield = 16;
constexpr std::uint64_t rounds_before_nap = 20;
/// On a dedicated core: about 40 ms of polls, longer than any wait of a balanced run.
constexpr std::uint64_t rounds_before_nap_on_own_core = 1'000'000;
/// The first nap, and by how much each is longer than the one before: a wait is at most a tenth
/// longer for it, and a long one wakes up seldom.
constexpr std::chrono::microseconds nap_time{10};
constexpr std::chrono::microseconds nap_growth{5};
constexpr std::chrono::microseconds longest_nap{1000};

/// Shorter waits are not recorded.
constexpr std::int64_t shortest_wait_ns = 1000;

/// Nap number `count` of a wait, from 0. By default the kernel would add 50 µs.
void nap(std::uint64_t count) {
  [[maybe_unused]] static thread_local const int is_set = prctl(PR_SET_TIMERSLACK, 1000UL);
  const auto growth = std::min<std::uint64_t>(count, longest_nap / nap_growth) * nap_growth;
  std::this_thread::sleep_for(std::min<std::chrono::microseconds>(nap_time + growth, longest_nap));
}

}  // namespace

void relax(WaitPolicy policy, std::uint64_t round) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  const bool spins = policy == WaitPolicy::spin;
  const std::uint64_t before_nap = spins ? rounds_before_nap_on_own_core : rounds_before_nap;
  if (round > before_nap)
    nap(round - before_nap - 1);
  else if (!spins && round > rounds_before_yield)
    yield_core();
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
