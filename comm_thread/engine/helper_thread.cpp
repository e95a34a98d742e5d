#include "comm_thread/engine/helper_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace weft::comm_thread {
namespace {

constexpr int nice_value = 10;

}  // namespace

HelperThread::HelperThread(std::function<void()> on_start, std::function<void()> task)
    : on_start_(std::move(on_start)), task_(std::move(task)), thread_([this] { run(); }) {}

HelperThread::~HelperThread() {
  wait();
  state_.store(State::stopping, std::memory_order_release);
  state_.notify_all();
}

void HelperThread::start() {
  state_.store(State::busy, std::memory_order_release);
  state_.notify_all();
}

void HelperThread::run() {
  if (on_start_) on_start_();
  // Linux has a nice value for each thread.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice_value);
  while (true) {
    state_.wait(State::idle, std::memory_order_acquire);
    if (state_.load(std::memory_order_acquire) == State::stopping) return;
    task_();
    state_.store(State::idle, std::memory_order_release);
    state_.notify_all();
  }
}

}  // namespace weft::comm_thread
