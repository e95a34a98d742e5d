#pragma once

#include <chrono>

#include "comm_thread/compute_team.h"
#include "solver/iteration_report.h"

namespace weft::solver {

/// A stop watch that gives every moment of the primary thread to exactly one of IterationTimes.
/// Thread: every thread of the team may call `lap`; the primary one is timed.
class IterationTimer {
 public:
  using Part = double IterationTimes::*;

  void start() {
    times_ = {};
    begin_ = last_ = Clock::now();
  }

  /// Adds the time since the last lap to `part`.
  void lap(const comm_thread::TeamThread& thread, Part part) {
    if (!thread.is_primary()) return;
    const auto now = Clock::now();
    times_.*part += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

  /// Since `start`. Thread: any that nobody calls `start` beside.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const IterationTimes& times() const { return times_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  IterationTimes times_;
};

}  // namespace weft::solver
