#include "comm_thread/waiting/team_barrier.h"

#include <sys/prctl.h>

#include <chrono>
#include <thread>

#include "perfmodel/thread_trace.h"

namespace weft::comm_thread {
namespace {

/// On a shared core: polls before a waiting thread yields, and yields before it naps.
constexpr std::uint64_t rounds_before_yield = 16;
constexpr std::uint64_t rounds_before_nap = 200;
/// On a dedicated core: about 40 ms of polls, longer than any wait of a balanced run.
constexpr std::uint64_t rounds_before_nap_on_own_core = 1'000'000;
constexpr std::chrono::microseconds nap_time{10};

/// Shorter waits are not recorded.
constexpr std::int64_t shortest_wait_ns = 1000;

/// Sleeps as briefly as the kernel allows; by default it adds 50 µs.
void nap() {
  [[maybe_unused]] static thread_local const int is_set = prctl(PR_SET_TIMERSLACK, 1000UL);
  std::this_thread::sleep_for(nap_time);
}

}  // namespace

void relax(WaitPolicy policy, std::uint64_t round) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  const bool spins = policy == WaitPolicy::spin;
  if (round > (spins ? rounds_before_nap_on_own_core : rounds_before_nap))
    nap();
  else if (!spins && round > rounds_before_yield)
    std::this_thread::yield();
}

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
