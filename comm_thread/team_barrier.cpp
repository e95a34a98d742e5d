#include "comm_thread/team_barrier.h"

#include <thread>

namespace weft::comm_thread {
namespace {

/// About 50 µs of looks before a spinning thread starts to let others run now and then: long enough
/// for every barrier of a balanced team, short enough when somebody else needs the core.
constexpr std::uint64_t spin_rounds = 1000;
constexpr std::uint64_t yield_rounds = 16;

}  // namespace

void relax(WaitPolicy policy, std::uint64_t round) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  if (round > (policy == WaitPolicy::spin ? spin_rounds : yield_rounds)) std::this_thread::yield();
}

void TeamBarrier::arrive_and_wait() {
  if (thread_count_ == 1) return;
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == thread_count_) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    return;
  }
  for (std::uint64_t round = 0; generation_.load(std::memory_order_acquire) == generation; ++round) {
    if (broken_.load(std::memory_order_acquire)) throw TeamBroken();
    relax(policy_, round);
  }
}

}  // namespace weft::comm_thread
