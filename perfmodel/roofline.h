#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perfmodel/core_bounds.h"

namespace weft::perfmodel {

/// Bytes that a kernel moves between memory (or a cache) and the cores, and its flops.
struct Traffic {
  double read_bytes = 0;  // including write-allocate
  double written_bytes = 0;
  double flops = 0;

  double total_bytes() const { return read_bytes + written_bytes; }
  double write_share() const { return total_bytes() > 0 ? written_bytes / total_bytes() : 0; }
};

/// Bandwidth of loops that only move data, as a function of the written share of the bytes moved:
/// loads, copies and updates differ by tens of percent.
class BandwidthRoof {
 public:
  struct Point {
    double write_share;
    double bytes_per_second;
  };

  /// `points`: at least one, any order.
  explicit BandwidthRoof(std::vector<Point> points);

  /// Interpolates the time per byte linearly between two points; constant beyond them.
  double bytes_per_second(double write_share) const;
  double seconds(const Traffic& traffic) const;

 private:
  std::vector<Point> points_;  // ascending share
};

/// Resource that limits a kernel in the model.
enum class Limit { memory, cache, flops };
const char* name(Limit limit);

/// Shortest time that the roofs allow.
struct Prediction {
  double seconds = 0;
  Limit limit = Limit::memory;
};

/// Roofs of a set of cores. `cache` bounds kernels that deliberately keep data in the second-level
/// cache.
/// Source: Williams, Waterman, Patterson 2009 (roofline); Hager et al. 2011 (performance =
/// bandwidth / code balance).
struct Roofs {
  BandwidthRoof memory;
  BandwidthRoof cache;
  double flops_per_second = 0;

  /// `in_cache`: traffic of the second-level cache; empty if it does not exceed the memory traffic.
  Prediction predict(const Traffic& in_memory, const Traffic& in_cache) const;
};

/// One of the loops of a kernel, by its part of the kernel's time in the cores and of its traffic
/// with memory.
struct LoopShare {
  double cores = 1;
  double memory = 1;
};

/// Time of a kernel whose loops take turns, each on data that the one before has left in a cache:
/// the sum over its loops of the longer of both parts. A loop hides its traffic behind its own
/// instructions, or the other way round, but not behind those of the next loop.
/// Source: Stengel, Treibig, Hager, Wellein 2015 (execution, cache, memory model), loop by loop,
/// with transfers that overlap with instructions, as they do on Zen for loops over a few streams.
double seconds_in_turn(const std::vector<LoopShare>& loops, double core_seconds,
                       double memory_seconds);

/// Measurements of one kernel that `judge` needs.
struct Evidence {
  double model_seconds = 0;
  double measured_seconds = 0;
  double fraction = 0;  // model / measured, both taken at the same time
  double spread = 0;  // spread of the measured times / their median
  double balance = 1;  // mean time of the threads / time of the slowest
  double data_bytes = 0;  // all data that the kernel touches
  double cache_bytes = 0;  // all last-level caches together
  std::optional<double> core_seconds{};  // the same work on data in a core's own cache
  std::vector<LoopShare> loops{};  // where several take turns
  std::optional<double> reload_seconds{};  // model time with the simulated extra loads of x
  double kappa = 0;  // bytes per nonzero of those extra loads
  std::vector<CoreBound> core_bounds{};  // of the same work, counted; the longest first
  std::optional<std::string> probe_fault{};  // fault_of_probes
};

enum class Judgement { ok, below, in_cache, refused };
const char* name(Judgement judgement);

struct Verdict {
  Judgement judgement = Judgement::ok;
  std::string reason;  // cause of a low fraction; may be empty
};

/// The longest of `bounds` (in order) that the time in cache does not refute; none if there is
/// none. A count that asks for much more than the time measured is no bound: chains of additions
/// overlap where a core foresees the end of a row, for instance.
const CoreBound* longest_bound(const std::vector<CoreBound>& bounds, double core_seconds);

/// Part of the time in cache that a bound takes at least to be its explanation.
inline constexpr double explaining_share = 0.8;

/// Judges whether a kernel reaches `tolerance` of its model, and if not, names the first cause that
/// accounts for it: unequal threads, repeated loads of x, slow cores (and what they are bound by),
/// loops that take turns, no overlap of time in cores and in memory, a disturbed measurement.
/// Refuses where the probes are held back.
Verdict judge(const Evidence& evidence, double tolerance);

}  // namespace weft::perfmodel
