#pragma once

#include <chrono>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/thread_trace.h"
#include "solver/report/iteration_report.h"

namespace weft::solver {

/// A stop watch that gives every moment of the primary thread to exactly one of IterationTimes.
/// Thread: every thread of the team may call `lap`; the primary one is timed, and those that have a
/// ThreadTrace record their laps.
class IterationTimer {
 public:
  using Part = double IterationTimes::*;

  void start() {
    times_ = {};
    begin_ = last_ = Clock::now();
  }

  /// Start of a recorded timeline's laps. Thread: every thread of the team.
  void start_recording() const {
    if (auto* const trace = perfmodel::ThreadTrace::of_this_thread())
      trace->start_laps(perfmodel::ThreadTrace::now());
  }

  /// Adds the time since the last lap to `part`.
  void lap(const comm_thread::TeamThread& thread, Part part) {
    auto* const trace = perfmodel::ThreadTrace::of_this_thread();
    if (!thread.is_primary() && !trace) return;
    const auto now = Clock::now();
    if (thread.is_primary()) {
      times_.*part += std::chrono::duration<double>(now - last_).count();
      last_ = now;
    }
    if (trace) trace->lap(name(part), perfmodel::ThreadTrace::nanoseconds(now));
  }

  /// Since `start`. Thread: any that nobody calls `start` beside.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const IterationTimes& times() const { return times_; }

 private:
  using Clock = perfmodel::ThreadTrace::Clock;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  IterationTimes times_;
};

}  // namespace weft::solver
