#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "comm_thread/engine/schedule.h"
#include "comm_thread/engine/schedule_executor.h"
#include "comm_thread/engine/service.h"
#include "comm_thread/mpi/mpi_session.h"
#include "comm_thread/waiting/team_barrier.h"

namespace weft::comm_thread {

class CommThread;

/// One run of a schedule that was posted. Cheap to copy; says nothing when destroyed (the
/// schedule's destructor completes what is in flight).
class Pending {
 public:
  /// Whether the run is complete. Thread: the one that posted; what was started on the calling
  /// thread is also progressed here.
  bool test() const;

  /// Whether message number `receive` of the schedule has arrived in this run.
  bool test_receive(std::size_t receive) const;

  /// Before the poster computes: where the communication thread shares cores, gives it this one
  /// for as long as it takes to begin. A thread that wakes does not always get the core from one
  /// that computes, and then a halo of 10 ms began 1.7 ms late.
  void let_begin() const;

  /// Returns when the run is complete. Throws what its execution threw (MpiError).
  /// Says through Options::on_stall for whom it waits when nothing moves for long.
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

/// The one persistent thread of a rank that talks to MPI while the compute team sweeps.
///
/// It sleeps while nothing is posted and no service is registered, polls while something is in
/// flight, and runs any number of schedules at once. Where MPI grants less than
/// MPI_THREAD_MULTIPLE no thread is started: the poster's `test` and `wait` progress the schedules
/// instead, the owners of services call `progress_services_here`, and results are the same.
///
/// Memory ordering: `post` publishes the schedule (and everything its buffers hold) by a release
/// push on `posted_`; the thread takes the whole list with acquire. `asleep_` and `posted_` form a
/// store-then-load pair on either side (sequentially consistent), so no post is slept through. A
/// service is handed over and taken back through `service_change_` in the same way, and the caller
/// waits until the thread has seen it.
///
/// Thread: `post` from any, for instance from a service on the communication thread; a schedule's
/// Pending, and adding and removing services, from one thread at a time. Lifetime: outlives its
/// schedules' runs; the destructor completes what is in flight and joins.
class CommThread {
 public:
  struct Options {
    ThreadLevel thread_level = ThreadLevel::multiple;
    /// `spin` on a core of its own, `yield` where a compute thread runs on the same core.
    WaitPolicy idle = WaitPolicy::yield;
    /// How the thread that waits in Pending behaves.
    WaitPolicy wait = WaitPolicy::yield;
    /// Run first in the new thread: pins it.
    std::function<void()> on_start{};
    /// Called by the waiting thread when a wait lasts `stall_seconds`, and again after each
    /// doubling, with who is awaited: "halo exchange: receive from rank 2".
    std::function<void(const std::string&, double seconds)> on_stall{};
    double stall_seconds = 10;
  };

  explicit CommThread(Options options);
  ~CommThread();
  CommThread(const CommThread&) = delete;
  CommThread& operator=(const CommThread&) = delete;

  /// Hands `schedule` over and returns at once. A schedule runs once at a time.
  Pending post(Schedule& schedule);

  /// From now on the communication thread calls `service.progress()` again and again; it naps
  /// between fruitless looks where it shares a core, and does not park.
  void add_service(Service& service);

  /// After it returns the service is not called any more. Throws what `progress` threw.
  void remove_service(Service& service);

  /// One look at every service, for their owners where there is no communication thread; nothing
  /// where there is one.
  void progress_services_here();

  /// How waiting threads behave (Options::wait).
  WaitPolicy wait_policy() const { return options_.wait; }

  /// Waits, as Options::wait says, until `is_done()`; reports a stall with `awaited()`. Progresses
  /// the services where there is no communication thread. Throws what `is_done` throws.
  void wait_for(const std::function<bool()>& is_done, const std::function<std::string()>& awaited);

  /// Starts `schedule` on the calling thread, as MPI programs without a communication thread do:
  /// it progresses in `test` and `wait` only. Vector and overlap mode communicate so.
  Pending start_here(Schedule& schedule);

  /// False where the poster itself has to progress (no MPI_THREAD_MULTIPLE).
  bool has_thread() const { return thread_.joinable(); }

  /// Processor time the thread has used so far, seconds; 0 without a thread.
  double cpu_seconds() const;

 private:
  friend class Pending;

  void run();
  struct ServiceChange {
    Service* service;
    bool is_added;
  };

  /// Marks, while it lives, that somebody waits: the communication thread then looks on instead of
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

  /// Throws std::logic_error while a run of it is in flight.
  static std::uint64_t begin_run(Schedule& schedule);
  void hand_over(Schedule& schedule);
  bool take_posted();
  bool has_work_waiting() const;
  void wake();
  /// Until `wake`, at most `longest`.
  void sleep(std::chrono::nanoseconds longest);
  void change_services(ServiceChange change);
  bool take_service_change();
  void apply(ServiceChange change);
  bool progress_services();
  /// Lets time pass for a thread that waits; `round` counts since waiting began, `awaited` says for
  /// whom.
  template <class Awaited>
  void wait_a_little(const Awaited& awaited, std::uint64_t round);

  Options options_;
  ScheduleExecutor executor_;  // the communication thread's
  ScheduleExecutor callers_executor_;  // of what was started by `start_here`
  alignas(64) std::atomic<Schedule*> posted_{nullptr};
  std::atomic<std::uint32_t> asleep_{0};  // 1 while the thread parks or naps
  std::atomic<ServiceChange*> service_change_{nullptr};
  std::vector<Service*> services_;  // of the thread that progresses them
  std::atomic<bool> stopping_{false};
  std::atomic<bool> somebody_waits_{false};  // a hint: how often to look
  double next_stall_report_ = 0;  // of the wait in progress
  double wait_began_ = 0;
  std::jthread thread_;
};

}  // namespace weft::comm_thread
