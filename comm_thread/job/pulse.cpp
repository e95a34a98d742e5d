#include "comm_thread/job/pulse.h"

#include <csignal>
#include <utility>

namespace weft::comm_thread {

Pulse::Pulse(std::chrono::milliseconds period, std::function<void()> beat)
    : period_(period), beat_(std::move(beat)), thread_([this] { run(); }) {}

Pulse::~Pulse() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  is_over_.notify_one();
}

void Pulse::run() {
  // Signals are for the threads of the program.
  sigset_t all{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!ends_) {
    lock.unlock();
    beat_();
    lock.lock();
    is_over_.wait_for(lock, period_, [this] { return ends_; });
  }
}

}  // namespace weft::comm_thread
