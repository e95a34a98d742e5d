#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace weft::solver {

/// A performance fault that a run shall suffer, to see what it does about it.
///
///     slow:RANK:FACTOR    every sweep of RANK takes FACTOR times as long
///     jitter:FRACTION     every sweep of every rank takes up to FRACTION of its time longer, at
///                         random
///     stall:RANK:SECONDS  RANK stops once for so long, after its tenth sweep
///     pause:RANK:SECONDS  RANK pauses so long after every sweep, whatever the sweep takes
///
/// Its time is processor time, so that ranks which share its core, and would not on a cluster, do
/// not make its pauses longer.
struct Fault {
  enum class Kind { slow, jitter, stall, pause };
  Kind kind = Kind::slow;
  int rank = 0;
  double amount = 0;  // factor, fraction or seconds

  /// Throws comm_thread::InputError, which says what is known.
  static Fault parse(std::string_view text);

  bool concerns(int of_rank) const { return kind == Kind::jitter || rank == of_rank; }
};

/// Processor time of the calling thread so far.
double thread_cpu_seconds();

/// Lets one rank suffer the faults that concern it.
/// Thread: the primary one of the team.
class Disturbance {
 public:
  Disturbance() = default;
  Disturbance(std::vector<Fault> faults, int rank);

  bool is_active() const { return !faults_.empty(); }

  /// Pauses as long as the faults say after a sweep, or several in one go, that took
  /// `sweep_seconds` of the processor; returns the seconds it took. Of a sweep in parts, each part
  /// is told with its own seconds, and `sweep_count` is 0 after all but the last; a fixed pause is
  /// divided as the seconds of the sweeps before were.
  double after_sweep(double sweep_seconds, int sweep_count = 1);

 private:
  double pause_seconds(const Fault& fault, double sweep_seconds, int sweep_count, double pauses);
  double fixed_pauses(double sweep_seconds, int sweep_count);

  std::vector<Fault> faults_;  // those of this rank
  std::uint64_t sweep_count_ = 0;  // so far
  double early_seconds_ = 0;  // of the processor, in parts that were not the last of a sweep
  double all_seconds_ = 0;
  double paused_fraction_ = 0;  // of the fixed pause of the sweep in progress
  std::mt19937_64 random_;
};

}  // namespace weft::solver
