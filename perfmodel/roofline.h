#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft::perfmodel {

/// What a kernel moves between memory (or a cache) and the cores, and what it computes.
struct Traffic {
  double read_bytes = 0;  // with write-allocate
  double written_bytes = 0;
  double flops = 0;

  double total_bytes() const { return read_bytes + written_bytes; }
  double write_share() const { return total_bytes() > 0 ? written_bytes / total_bytes() : 0; }
};

/// The bandwidth that loops of plain data movement reach, as a function of the share of what they
/// move that is written: reads alone, copies and updates differ by tens of percent.
class BandwidthRoof {
 public:
  struct Point {
    double write_share;
    double bytes_per_second;
  };

  /// `points`: at least one, any order.
  explicit BandwidthRoof(std::vector<Point> points);

  /// Time per byte between two points is a straight line; beyond them it stays.
  double bytes_per_second(double write_share) const;
  double seconds(const Traffic& traffic) const;

 private:
  std::vector<Point> points_;  // ascending share
};

/// What limits a kernel by the model.
enum class Limit { memory, cache, flops };
const char* name(Limit limit);

/// The shortest time that the roofs allow.
struct Prediction {
  double seconds = 0;
  Limit limit = Limit::memory;
};

/// The roofs of some cores. A kernel that keeps data in the second-level cache on purpose also has
/// to get it from there: `cache` bounds that.
/// Source: Williams, Waterman, Patterson 2009 (roofline); Hager et al. 2011 (performance =
/// bandwidth / code balance).
struct Roofs {
  BandwidthRoof memory;
  BandwidthRoof cache;
  double flops_per_second = 0;

  /// `in_cache`: traffic of the second-level cache; none where it is no more than that of memory.
  Prediction predict(const Traffic& in_memory, const Traffic& in_cache) const;
};

/// All that is known about one kernel when it is judged.
struct Evidence {
  double model_seconds = 0;
  double measured_seconds = 0;
  double fraction = 0;  // model / measured, of the same moments
  double spread = 0;  // of the measured times, of their median
  double balance = 1;  // mean time of the threads / that of the slowest
  double data_bytes = 0;  // all that it touches
  double cache_bytes = 0;  // of all last-level caches
  std::optional<double> core_seconds{};  // the same work on data in a core's own cache
  std::optional<double> reload_seconds{};  // the model's, with x loaded again as simulated
  double kappa = 0;  // bytes per nonzero of those loads
};

enum class Judgement { ok, below, in_cache };
const char* name(Judgement judgement);

struct Verdict {
  Judgement judgement = Judgement::ok;
  std::string reason;  // why below; empty where there is nothing to say
};

/// Whether a kernel reaches `tolerance` of its model, and if not, the first of these that accounts
/// for it: unequal threads, x loaded again, cores that are too slow, time in cores and in memory
/// that do not overlap, a disturbed measurement.
Verdict judge(const Evidence& evidence, double tolerance);

}  // namespace weft::perfmodel
