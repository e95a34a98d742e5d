#include "comm_thread/comm_thread.h"

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace weft::comm_thread {
namespace {

/// Looks without anything to do before the thread parks: about 100 µs. Parking at once would cost
/// the next poster a wake-up (12–27 µs until the thread runs, 7 µs for the poster).
constexpr std::uint64_t looks_before_park = 2000;
constexpr std::uint64_t looks_before_park_on_shared_core = 20;
/// Fruitless looks at messages in flight before the thread naps between looks, where it takes time
/// from a compute thread that computes. While the poster waits, nobody computes, and it looks on.
constexpr std::uint64_t looks_before_nap = 20;
constexpr std::chrono::microseconds nap{50};
/// Waiting rounds between two looks at the clock.
constexpr std::uint64_t rounds_per_clock = 1024;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void Pending::progress() const {
  if (is_progressed_here_) thread_->callers_executor_.progress();
}

bool Pending::test() const {
  progress();
  return schedule_->finished_runs() >= run_;
}

bool Pending::test_receive(std::size_t receive) const {
  progress();
  return schedule_->has_received(receive, run_) || schedule_->finished_runs() >= run_;
}

template <class IsDone>
void Pending::wait_until(const IsDone& is_done) const {
  if (is_done()) return;
  thread_->somebody_waits_.store(true, std::memory_order_relaxed);
  for (std::uint64_t round = 0; !is_done(); ++round) thread_->wait_a_little(*schedule_, round);
  thread_->somebody_waits_.store(false, std::memory_order_relaxed);
}

void Pending::wait() const {
  wait_until([this] { return test(); });
  if (schedule_->error_) std::rethrow_exception(schedule_->error_);
}

void Pending::wait_receive(std::size_t receive) const {
  wait_until([this, receive] { return test_receive(receive); });
  if (schedule_->finished_runs() >= run_ && schedule_->error_)
    std::rethrow_exception(schedule_->error_);
}

CommThread::CommThread(Options options) : options_(std::move(options)) {
  if (options_.thread_level == ThreadLevel::multiple) thread_ = std::jthread([this] { run(); });
}

CommThread::~CommThread() {
  stopping_.store(true, std::memory_order_seq_cst);
  if (parked_.exchange(0) == 1) parked_.notify_one();
  if (has_thread()) thread_.join();
  while (!callers_executor_.is_idle()) callers_executor_.progress();
}

std::uint64_t CommThread::begin_run(Schedule& schedule) {
  if (schedule.finished_runs() < schedule.posted_runs())
    throw std::logic_error(schedule.name() + " was posted while its last run is in flight");
  const std::uint64_t run = schedule.posted_runs() + 1;
  schedule.posted_runs_.store(run, std::memory_order_relaxed);
  return run;
}

Pending CommThread::start_here(Schedule& schedule) {
  const std::uint64_t run = begin_run(schedule);
  schedule.progress_by_poster_ = [this] { callers_executor_.progress(); };
  callers_executor_.start(schedule);
  return Pending(*this, schedule, run, true);
}

Pending CommThread::post(Schedule& schedule) {
  if (!has_thread()) return start_here(schedule);
  const std::uint64_t run = begin_run(schedule);
  schedule.next_posted_ = posted_.load(std::memory_order_relaxed);
  while (!posted_.compare_exchange_weak(schedule.next_posted_, &schedule)) continue;
  if (parked_.load() == 1 && parked_.exchange(0) == 1) parked_.notify_one();
  return Pending(*this, schedule, run, false);
}

double CommThread::cpu_seconds() const {
  clockid_t clock{};
  timespec time{};
  if (!has_thread()) return 0;
  auto& thread = const_cast<std::jthread&>(thread_);
  if (pthread_getcpuclockid(thread.native_handle(), &clock) != 0) return 0;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool CommThread::take_posted() {
  if (posted_.load(std::memory_order_relaxed) == nullptr) return false;
  Schedule* newest_first = posted_.exchange(nullptr, std::memory_order_acquire);
  Schedule* in_order = nullptr;
  while (newest_first) {
    Schedule* next = std::exchange(newest_first->next_posted_, in_order);
    in_order = std::exchange(newest_first, next);
  }
  while (in_order) {
    Schedule* next = in_order->next_posted_;  // read first: a started run may end at once
    executor_.start(*in_order);
    in_order = next;
  }
  return true;
}

void CommThread::park() {
  parked_.store(1);
  if (posted_.load() == nullptr && !stopping_.load()) parked_.wait(1);
  parked_.store(0);
}

void CommThread::run() {
  if (options_.on_start) options_.on_start();
  const bool shares_core = options_.idle == WaitPolicy::yield;
  const std::uint64_t park_after =
      shares_core ? looks_before_park_on_shared_core : looks_before_park;
  std::uint64_t fruitless = 0;
  while (true) {
    const bool took = take_posted();
    const bool moved = executor_.progress() || took;
    fruitless = moved ? 0 : fruitless + 1;
    if (moved) continue;
    if (executor_.is_idle()) {
      if (stopping_.load() && posted_.load() == nullptr) return;
      if (fruitless > park_after) {
        park();
        fruitless = 0;
        continue;
      }
    } else if (shares_core && fruitless > looks_before_nap &&
               !somebody_waits_.load(std::memory_order_relaxed)) {
      std::this_thread::sleep_for(nap);
      continue;
    }
    relax(options_.idle, fruitless);
  }
}

void CommThread::wait_a_little(const Schedule& schedule, std::uint64_t round) {
  relax(options_.wait, round);
  if (!options_.on_stall || round % rounds_per_clock != 0) return;
  const double now = now_seconds();
  if (round == 0) {
    wait_began_ = now;
    next_stall_report_ = options_.stall_seconds;
  } else if (now - wait_began_ >= next_stall_report_) {
    options_.on_stall(schedule.missing(), now - wait_began_);
    next_stall_report_ *= 2;
  }
}

}  // namespace weft::comm_thread
