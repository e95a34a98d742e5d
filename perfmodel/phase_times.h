#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace weft::perfmodel {

/// The timed parts of an iteration, as the primary compute thread sees them.
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

/// A stop watch that gives every moment to exactly one phase: `lap(p)` adds the time since the
/// last lap to `p`. About 25 ns per lap.
/// Thread: one.
class PhaseTimer {
 public:
  void start() { last_ = Clock::now(); }
  void lap(Phase phase) {
    const auto now = Clock::now();
    times_[phase] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  const PhaseTimes& times() const { return times_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  PhaseTimes times_;
};

}  // namespace weft::perfmodel
