#include "tools/job/stop_signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace weft::tools {
namespace {

constexpr std::array signals{SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
constexpr std::time_t seconds_of_one_signal =
    2;  // a terminal, a launcher and Slurm may all send it

// A handler may use nothing but lock-free atomics.
std::atomic<int> first{0};
std::atomic<std::time_t> first_seconds{0};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<std::time_t>::is_always_lock_free);

extern "C" void weft_note_stop_signal(int number) {
  const int saved = errno;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  int none = 0;
  if (first.compare_exchange_strong(none, number)) {
    first_seconds.store(now.tv_sec);
  } else if (now.tv_sec - first_seconds.load() >= seconds_of_one_signal) {
    constexpr int shell_offset = 128;
    _exit(shell_offset + number);
  }
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
  first.store(0);
  struct sigaction action{};
  action.sa_handler = weft_note_stop_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : signals) sigaction(number, &action, nullptr);
}

StopSignals::~StopSignals() {
  for (const int number : signals) std::signal(number, SIG_DFL);
}

int StopSignals::caught() { return first.load(); }

}  // namespace weft::tools
