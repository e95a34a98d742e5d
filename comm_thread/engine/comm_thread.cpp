#include "comm_thread/engine/comm_thread.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "comm_thread/mpi/patient_calls.h"
#include "comm_thread/waiting/sleep.h"
#include "perfmodel/stopwatch.h"

namespace weft::comm_thread {
namespace {

/// Idle polls before the thread parks: about 100 µs. Parking at once would cost the next poster a
/// wake-up (12–27 µs until the thread runs, 7 µs for the poster).
constexpr std::uint64_t looks_before_park = 2000;
constexpr std::uint64_t looks_before_park_on_shared_core = 20;
/// Unsuccessful polls of messages in flight before the thread naps between polls, if it takes time
/// from a compute thread that computes. While the poster waits, nobody computes, and it keeps
/// polling. Each nap is a little longer than the previous one, so that it stays a small part of the
/// wait: two hosts with one core each over 1 Gbit/s, halos of 2.9 and 5.1 MB, take 0.95 and 0.92 of
/// the time that they take with naps of 250 µs at most (medians of five).
constexpr std::uint64_t looks_before_nap = 20;
constexpr std::chrono::microseconds nap{50};
constexpr std::chrono::microseconds nap_growth{10};
constexpr std::chrono::microseconds longest_nap{1000};
/// Nap between polls of messages of services, which nobody waits for. Two hosts with one core each,
/// 50³ points a rank, asynchronous Jacobi, relative to synchronous Jacobi in vector mode (medians
/// of nine): 50 µs 0.79, 100 µs 0.77, 200 µs 0.69, 400 µs 0.71; polling from the first round on
/// 0.74. Smaller sweeps, Schwarz and four ranks on two cores show no difference from 50 to 400 µs.
constexpr std::chrono::microseconds service_nap{200};
constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();
/// Pause of a poster that lets the communication thread begin.
constexpr std::chrono::microseconds pause_to_begin{10};
/// Waiting rounds between two reads of the clock.
constexpr std::uint64_t rounds_per_clock = 1024;

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

void Pending::let_begin() const {
  if (is_progressed_here_ || thread_->options_.idle == WaitPolicy::spin) return;
  if (thread_->posted_.load() == nullptr) return;
  sleep_while(thread_->asleep_, 0, pause_to_begin);
}

template <class IsDone>
void Pending::wait_until(const IsDone& is_done) const {
  if (is_done()) return;
  const CommThread::Waiting waiting(*thread_);
  const auto awaited = [this] { return schedule_->missing(); };
  for (std::uint64_t round = 0; !is_done(); ++round) thread_->wait_a_little(awaited, round);
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
  if (options_.thread_level == ThreadLevel::multiple && !options_.is_polled)
    thread_ = std::jthread([this] { run(); });
}

CommThread::~CommThread() {
  stopping_.store(true, std::memory_order_seq_cst);
  wake();
  if (thread_.joinable()) thread_.join();
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
  hand_over(schedule);
  return Pending(*this, schedule, run, false);
}

void CommThread::hand_over(Schedule& schedule) {
  schedule.next_posted_ = posted_.load(std::memory_order_relaxed);
  while (!posted_.compare_exchange_weak(schedule.next_posted_, &schedule)) continue;
  wake();
}

void CommThread::wake() {
  if (asleep_.load() == 1 && asleep_.exchange(0) == 1) wake_sleeper(asleep_);
}

void CommThread::add_service(Service& service) { change_services({&service, true}); }

void CommThread::remove_service(Service& service) {
  change_services({&service, false});
  service.rethrow_error();
}

void CommThread::change_services(ServiceChange change) {
  if (!thread_.joinable()) {
    apply(change);
    return;
  }
  service_change_.store(&change);
  wake();
  for (std::uint64_t round = 0; service_change_.load(std::memory_order_acquire); ++round)
    relax(WaitPolicy::yield, round);
}

bool CommThread::take_service_change() {
  ServiceChange* change = service_change_.load(std::memory_order_acquire);
  if (!change) return false;
  apply(*change);
  service_change_.store(nullptr, std::memory_order_release);
  return true;
}

void CommThread::apply(ServiceChange change) {
  std::erase(services_, change.service);
  if (change.is_added) services_.push_back(change.service);
}

bool CommThread::progress_services() {
  bool moved = false;
  for (Service* service : services_) moved = service->attend() || moved;
  return moved;
}

void CommThread::progress_services_here() {
  if (!has_thread()) progress_services();
}

void CommThread::wait_for(const std::function<bool()>& is_done,
                          const std::function<std::string()>& awaited) {
  const Waiting waiting(*this);
  for (std::uint64_t round = 0; !is_done(); ++round) {
    progress_services_here();
    wait_a_little(awaited, round);
  }
}

double CommThread::cpu_seconds() const {
  clockid_t clock{};
  timespec time{};
  if (!thread_.joinable()) return 0;
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

bool CommThread::has_work_waiting() const {
  return posted_.load() != nullptr || service_change_.load() != nullptr;
}

void CommThread::sleep(std::chrono::nanoseconds longest) {
  asleep_.store(1);
  const bool is_nap = longest != forever;
  if (!has_work_waiting() && !stopping_.load() && !(is_nap && somebody_waits_.load()))
    sleep_while(asleep_, 1, longest);
  asleep_.store(0);
}

bool CommThread::poll() {
  bool moved = take_service_change();
  moved = take_posted() || moved;
  moved = executor_.progress() || moved;
  return progress_services() || moved;
}

void CommThread::run() {
  if (options_.on_start) options_.on_start();
  sleep_precisely();
  const bool shares_core = options_.idle == WaitPolicy::yield;
  if (!shares_core) PatientCalls::never_on_this_thread();
  const std::uint64_t park_after =
      shares_core ? looks_before_park_on_shared_core : looks_before_park;
  std::uint64_t fruitless = 0;
  while (true) {
    const bool moved = poll();
    fruitless = moved ? 0 : fruitless + 1;
    if (moved) continue;
    if (executor_.is_idle() && services_.empty()) {
      if (stopping_.load() && !has_work_waiting()) return;
      if (fruitless > park_after) {
        sleep(forever);
        fruitless = 0;
        continue;
      }
    } else if (shares_core && fruitless > looks_before_nap && !somebody_waits_.load()) {
      const std::chrono::nanoseconds growing = nap + nap_growth * (fruitless - looks_before_nap);
      sleep(services_.empty() ? std::min<std::chrono::nanoseconds>(growing, longest_nap)
                              : service_nap);
      continue;
    }
    relax(options_.idle, fruitless);
  }
}

template <class Awaited>
void CommThread::wait_a_little(const Awaited& awaited, std::uint64_t round) {
  relax(options_.wait, round);
  if (!options_.on_stall || round % rounds_per_clock != 0) return;
  const double now = perfmodel::seconds_now();
  if (round == 0) {
    wait_began_ = now;
    next_stall_report_ = options_.stall_seconds;
  } else if (now - wait_began_ >= next_stall_report_) {
    options_.on_stall(awaited(), now - wait_began_);
    next_stall_report_ *= 2;
  }
}

}  // namespace weft::comm_thread
