#include "comm_thread/waiting/sleep.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace weft::comm_thread {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// The kernel's `struct sched_attr`; its header conflicts with the C library's.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_nanoseconds = 0;  // for SCHED_OTHER: the length of a time slice
  std::uint64_t deadline_nanoseconds = 0;
  std::uint64_t period_nanoseconds = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

}  // namespace

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::chrono::nanoseconds longest) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (longest - seconds).count()};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &limit, nullptr, 0);
}

void wake_sleeper(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void sleep_precisely() {
  prctl(PR_SET_TIMERSLACK, 1000);
  // A thread that asks for the shortest time slice, 0.1 ms, may preempt one with longer slices as
  // soon as it wakes (Linux 6.12 and later; others refuse or ignore it). Needs no privilege.
  const SchedulingAttributes turns{.runtime_nanoseconds = 100'000};
  syscall(SYS_sched_setattr, 0, &turns, 0);
}

}  // namespace weft::comm_thread
