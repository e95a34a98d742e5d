#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "comm_thread/engine/clock.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/engine/schedule_executor.h"
#include "comm_thread/engine/service.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/waiting/team_barrier.h"

namespace weft::comm_thread {

class CommThread;

/// Handle of one run of a posted schedule. Cheap to copy; its destructor does nothing (the
/// schedule's destructor completes operations in flight).
class Pending {
 public:
  /// True if the run is complete. Also progresses a run that was started on the calling thread.
  /// Thread: the one that posted.
  bool test() const;

  /// True if receive number `receive` of the schedule is complete in this run.
  bool test_receive(std::size_t receive) const;

  /// Lets the communication thread begin, if it shares cores: gives it this core for a moment
  /// before the poster computes. A thread that wakes does not always get the core from one that
  /// computes; a halo of 10 ms then began 1.7 ms late.
  void let_begin() const;

  /// Returns when the run is complete. Throws the error of its execution (MpiError).
  /// During a long wait without progress, reports through Options::on_stall whom it waits for.
  void wait() const;
  void wait_receive(std::size_t receive) const;

 private:
  friend class CommThread;
  Pending(CommThread& thread, Schedule& schedule, std::uint64_t run, bool is_progressed_here)
      : thread_(&thread),
        schedule_(&schedule),
        run_(run),
        is_progressed_here_(is_progressed_here) {}
  void progress() const;
  template <class IsDone>
  void wait_until(const IsDone& is_done) const;

  CommThread* thread_;
  Schedule* schedule_;
  std::uint64_t run_;
  bool is_progressed_here_;  // by test and wait, not by the communication thread
};

/// Persistent thread of a rank that communicates through MPI while the compute team computes.
///
/// It sleeps while nothing is posted and no service is registered, polls while messages are in
/// flight, and runs any number of schedules at once. Where MPI grants less than MPI_THREAD_MULTIPLE
/// no thread is started: the poster's `test` and `wait` progress the schedules instead, the owners
/// of services call `progress_services_here`, and results are the same.
///
/// Memory ordering: `post` publishes the schedule (and the contents of its buffers) by a release
/// push on `posted_`; the thread takes the whole list with acquire. `asleep_` and `posted_` form a
/// store-then-load pair on either side (sequentially consistent), so no post is missed by a
/// sleeping thread. Services are registered and removed through `service_change_` in the same way,
/// and the caller waits until the thread has seen the change.
///
/// Thread: `post` from any, for instance from a service on the communication thread; a schedule's
/// Pending, and adding and removing services, from one thread at a time. Lifetime: outlives its
/// schedules' runs; the destructor completes operations in flight and joins.
class CommThread {
 public:
  struct Options {
    ThreadLevel thread_level = ThreadLevel::multiple;
    /// Waiting of the communication thread: `spin` on a core of its own, `yield` on a core shared
    /// with a compute thread.
    WaitPolicy idle = WaitPolicy::yield;
    /// Waiting of the threads in Pending.
    WaitPolicy wait = WaitPolicy::yield;
    /// Called first in the new thread: pins it.
    std::function<void()> on_start{};
    /// Called by the waiting thread when a wait has lasted `stall_seconds`, and again after each
    /// doubling, with the awaited operation: "halo exchange: receive from rank 2".
    std::function<void(const std::string&, double seconds)> on_stall{};
    double stall_seconds = 10;
    /// True: no thread is started; whoever owns this object calls `poll` in its place, and no
    /// other method waits. For simulations of many ranks in one process.
    bool is_polled = false;
    const Clock* clock = &Clock::steady();  // outlives it
  };

  explicit CommThread(Options options);
  ~CommThread();
  CommThread(const CommThread&) = delete;
  CommThread& operator=(const CommThread&) = delete;

  /// Posts `schedule` to the communication thread and returns at once. A schedule runs once at a
  /// time.
  Pending post(Schedule& schedule);

  /// Registers `service`: the communication thread calls `service.attend()` repeatedly until it
  /// is removed. It does not park meanwhile; on a shared core it naps between unsuccessful polls.
  void add_service(Service& service);

  /// Removes `service`: after the return it is not called any more. Throws the error of `attend`.
  void remove_service(Service& service);

  /// Progresses every service once, for their owners, if there is no communication thread;
  /// otherwise does nothing.
  void progress_services_here();

  /// Waiting of threads outside the communication thread (Options::wait).
  WaitPolicy wait_policy() const { return options_.wait; }

  /// Waits, as Options::wait says, until `is_done()`; reports a stall with `awaited()`. Progresses
  /// the services if there is no communication thread. Throws the exceptions of `is_done`.
  void wait_for(const std::function<bool()>& is_done, const std::function<std::string()>& awaited);

  /// Starts `schedule` on the calling thread, as MPI programs without a communication thread do: it
  /// progresses only in `test` and `wait`. Used by vector and overlap mode.
  Pending start_here(Schedule& schedule);

  /// False if the poster itself has to progress (no MPI_THREAD_MULTIPLE).
  bool has_thread() const { return thread_.joinable() || options_.is_polled; }

  /// One round of the communication thread: takes what was posted, polls everything in flight
  /// once. Returns true if anything moved. Thread: the communication thread, or the owner where
  /// Options::is_polled.
  bool poll();

  const Clock& clock() const { return *options_.clock; }

  /// Binds the calling thread where the communication thread runs (Options::on_start).
  void settle_calling_thread() const {
    if (options_.on_start) options_.on_start();
  }

  /// Processor time used by the thread so far; 0 without a thread. Unit: seconds.
  double cpu_seconds() const;

 private:
  friend class Pending;

  void run();
  struct ServiceChange {
    Service* service;
    bool is_added;
  };

  /// While it lives, marks that a thread waits: the communication thread then polls instead of
  /// napping.
  class Waiting {
   public:
    explicit Waiting(CommThread& thread) : thread_(thread) {
      thread_.somebody_waits_.store(true);
      thread_.wake();
    }
    ~Waiting() { thread_.somebody_waits_.store(false); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    CommThread& thread_;
  };

  /// Throws std::logic_error if `schedule` has a run in flight.
  static std::uint64_t begin_run(Schedule& schedule);
  void hand_over(Schedule& schedule);
  bool take_posted();
  bool has_work_waiting() const;
  void wake();
  /// Sleeps until `wake`, at most for `longest`.
  void sleep(std::chrono::nanoseconds longest);
  void change_services(ServiceChange change);
  bool take_service_change();
  void apply(ServiceChange change);
  bool progress_services();
  /// Called in each round of a wait: reports stalls with `awaited`; `round` counts the rounds.
  template <class Awaited>
  void wait_a_little(const Awaited& awaited, std::uint64_t round);

  Options options_;
  ScheduleExecutor executor_;  // of the communication thread
  ScheduleExecutor callers_executor_;  // for runs started by `start_here`
  alignas(64) std::atomic<Schedule*> posted_{nullptr};
  std::atomic<std::uint32_t> asleep_{0};  // 1 while the thread parks or naps
  std::atomic<ServiceChange*> service_change_{nullptr};
  std::vector<Service*> services_;  // owned by the thread that progresses them
  std::atomic<bool> stopping_{false};
  std::atomic<bool> somebody_waits_{false};  // a hint: how often to poll
  double next_stall_report_ = 0;  // of the wait in progress
  double wait_began_ = 0;
  std::jthread thread_;
};

}  // namespace weft::comm_thread
