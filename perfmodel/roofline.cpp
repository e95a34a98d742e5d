#include "perfmodel/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace weft::perfmodel {
namespace {

/// Data up to this multiple of the cache size partly stays in cache between runs.
constexpr double least_caches_of_data = 2;
constexpr double disturbed_spread = 0.1;
/// Rates and times in cache are measured one after the other on machines that change meanwhile.
constexpr double refuted_share = 1.2;

/// What the cores are bound by, as a sentence about the time in cache.
std::string core_reason(const Evidence& e) {
  const double core_ms = 1e3 * *e.core_seconds;
  const double model_ms = 1e3 * e.model_seconds;
  const CoreBound* const bound = longest_bound(e.core_bounds, *e.core_seconds);
  if (bound && bound->seconds >= explaining_share * *e.core_seconds)
    return fmt::format("bound by the cores: {} take {:.3g} of {:.3g} ms; model {:.3g}",
                       bound->text(), 1e3 * bound->seconds, core_ms, model_ms);
  std::string reason =
      fmt::format("bound by the cores: {:.3g} ms with all data in their caches, model {:.3g}",
                  core_ms, model_ms);
  if (bound)
    reason += fmt::format("; {} come nearest with {:.3g} ms, which does not explain it",
                          bound->text(), 1e3 * bound->seconds);
  return reason;
}

/// The time in the cores with its main part, for reasons that have others beside it.
std::string core_part(const Evidence& e) {
  const CoreBound* const bound = longest_bound(e.core_bounds, *e.core_seconds);
  const bool is_explained = bound && bound->seconds >= explaining_share * *e.core_seconds;
  return fmt::format("{:.3g} ms in the cores{}", 1e3 * *e.core_seconds,
                     is_explained ? fmt::format(" ({})", bound->text()) : "");
}

/// Of a kernel with several loops.
std::optional<double> in_turn_seconds(const Evidence& e) {
  if (!e.core_seconds || e.loops.empty()) return std::nullopt;
  return seconds_in_turn(e.loops, *e.core_seconds, e.model_seconds);
}

}  // namespace

BandwidthRoof::BandwidthRoof(std::vector<Point> points) : points_(std::move(points)) {
  std::sort(points_.begin(), points_.end(),
            [](const Point& a, const Point& b) { return a.write_share < b.write_share; });
}

double BandwidthRoof::bytes_per_second(double write_share) const {
  if (write_share <= points_.front().write_share) return points_.front().bytes_per_second;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const Point& below = points_[i - 1];
    const Point& above = points_[i];
    if (write_share > above.write_share) continue;
    const double place =
        (write_share - below.write_share) / (above.write_share - below.write_share);
    return 1 / std::lerp(1 / below.bytes_per_second, 1 / above.bytes_per_second, place);
  }
  return points_.back().bytes_per_second;
}

double BandwidthRoof::seconds(const Traffic& traffic) const {
  return traffic.total_bytes() / bytes_per_second(traffic.write_share());
}

const char* name(Limit limit) {
  constexpr std::array names{"memory", "cache", "flops"};
  return names[static_cast<std::size_t>(limit)];
}

const char* name(Judgement judgement) {
  constexpr std::array names{"ok", "below model", "in cache", "not judged"};
  return names[static_cast<std::size_t>(judgement)];
}

Prediction Roofs::predict(const Traffic& in_memory, const Traffic& in_cache) const {
  Prediction longest{memory.seconds(in_memory), Limit::memory};
  if (in_cache.total_bytes() > 0 && cache.seconds(in_cache) > longest.seconds)
    longest = {cache.seconds(in_cache), Limit::cache};
  if (flops_per_second > 0 && in_memory.flops / flops_per_second > longest.seconds)
    longest = {in_memory.flops / flops_per_second, Limit::flops};
  return longest;
}

const CoreBound* longest_bound(const std::vector<CoreBound>& bounds, double core_seconds) {
  const auto bound = std::ranges::find_if(bounds, [&](const CoreBound& candidate) {
    return candidate.seconds <= refuted_share * core_seconds;
  });
  return bound == bounds.end() ? nullptr : &*bound;
}

double seconds_in_turn(const std::vector<LoopShare>& loops, double core_seconds,
                       double memory_seconds) {
  double seconds = 0;
  for (const LoopShare& loop : loops)
    seconds += std::max(loop.cores * core_seconds, loop.memory * memory_seconds);
  return seconds;
}

Verdict judge(const Evidence& e, double tolerance) {
  if (e.data_bytes < least_caches_of_data * e.cache_bytes)
    return {Judgement::in_cache, fmt::format("{:.3g} MB, the caches hold {:.3g}",
                                             e.data_bytes * 1e-6, e.cache_bytes * 1e-6)};
  if (e.probe_fault) return {Judgement::refused, *e.probe_fault};
  if (e.fraction >= tolerance) return {Judgement::ok, {}};
  // The fraction with the effect included in the model.
  const auto accounts = [&](double seconds) {
    return e.fraction * seconds / e.model_seconds >= tolerance;
  };
  const double model_ms = 1e3 * e.model_seconds;
  std::string reason =
      e.core_seconds
          ? fmt::format("{} and {:.3g} in memory: nothing that was measured here accounts for all",
                        core_part(e), model_ms)
          : "nothing that was measured here accounts for it";
  if (e.balance > 0 && accounts(e.model_seconds / e.balance))
    reason =
        fmt::format("threads are unequal: the slowest takes {:.2f} times the mean", 1 / e.balance);
  else if (e.reload_seconds && accounts(*e.reload_seconds))
    reason = fmt::format("x is loaded again: kappa = {:.2f} bytes per nonzero, simulated", e.kappa);
  else if (e.core_seconds && accounts(*e.core_seconds))
    reason = core_reason(e);
  else if (const auto in_turn = in_turn_seconds(e); in_turn && accounts(*in_turn))
    reason = fmt::format(
        "bound by its {} loops in turn: {:.3g} ms by the longer part of each; {} "
        "and {:.3g} in memory",
        e.loops.size(), 1e3 * *in_turn, core_part(e), model_ms);
  else if (e.core_seconds && accounts(*e.core_seconds + e.model_seconds))
    reason = fmt::format("{} and {:.3g} in memory overlap only in part", core_part(e), model_ms);
  else if (e.core_seconds && e.balance > 0 &&
           accounts((*e.core_seconds + e.model_seconds) / e.balance))
    reason = fmt::format(
        "threads are unequal (slowest / mean {:.2f}), and {} and {:.3g} in memory overlap only in "
        "part",
        1 / e.balance, core_part(e), model_ms);
  else if (e.spread > disturbed_spread)
    reason = fmt::format("disturbed: its times spread by {:.0f} %", 100 * e.spread);
  return {Judgement::below, reason};
}

}  // namespace weft::perfmodel
