#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "perfmodel/marked_region.h"
#include "perfmodel/thread_trace.h"

namespace weft::perfmodel {

/// Timed phases of an iteration on the primary compute thread.
enum class Phase { pack, local_part, halo_wait, boundary_part, reduction, vector_update };
inline constexpr std::size_t phase_count = 6;
const char* name(Phase phase);

/// Seconds spent in each phase.
class PhaseTimes {
 public:
  double& operator[](Phase phase) { return seconds_[static_cast<std::size_t>(phase)]; }
  double operator[](Phase phase) const { return seconds_[static_cast<std::size_t>(phase)]; }
  double total() const;

 private:
  std::array<double, phase_count> seconds_{};
};

/// Stopwatch that assigns every moment to exactly one phase: `lap(p)` adds the time since the last
/// lap to `p`. Costs about 25 ns per lap. A thread with a ThreadTrace also records its laps.
/// Thread: every thread of the team, with its number; number 0 is timed.
class PhaseTimer {
 public:
  void start(int thread) {
    const auto now = Clock::now();
    if (thread == 0) last_ = now;
    if (ThreadTrace* const trace = ThreadTrace::of_this_thread())
      trace->start_laps(ThreadTrace::nanoseconds(now));
  }
  void lap(int thread, Phase phase) {
    ThreadTrace* const trace = ThreadTrace::of_this_thread();
    if (thread != 0 && !trace) return;
    const auto now = Clock::now();
    if (thread == 0) {
      times_[phase] += std::chrono::duration<double>(now - last_).count();
      last_ = now;
    }
    if (trace) trace->lap(name(phase), ThreadTrace::nanoseconds(now));
  }
  const PhaseTimes& times() const { return times_; }

 private:
  using Clock = ThreadTrace::Clock;
  Clock::time_point last_ = Clock::now();
  PhaseTimes times_;
};

/// One phase of a thread: a region for LIKWID, and a lap of the timer at its end.
class PhaseScope {
 public:
  PhaseScope(PhaseTimer& timer, int thread, Phase phase)
      : timer_(timer), thread_(thread), phase_(phase), region_(name(phase)) {}
  ~PhaseScope() { timer_.lap(thread_, phase_); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  PhaseTimer& timer_;
  int thread_;
  Phase phase_;
  MarkedRegion region_;
};

}  // namespace weft::perfmodel
