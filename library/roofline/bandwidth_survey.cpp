#include "library/roofline/bandwidth_survey.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "library/roofline/likwid_bench.h"
#include "perfmodel/statistics.h"

namespace weft::library {
namespace {

using comm_thread::Job;
using comm_thread::TeamThread;
using perfmodel::Stream;

constexpr int samples = 5;
/// Relative to likwid-bench; larger deviations are reported.
constexpr double likwid_tolerance = 0.05;

template <class Measure>
double median_of(const Measure& measure) {
  std::vector<double> rates;
  for (int i = 0; i < samples; ++i) rates.push_back(measure());
  return perfmodel::median(rates);
}

/// 1 to 8, then in larger and larger steps, and `all`.
std::vector<int> core_counts(int all) {
  std::vector<int> counts;
  int step = 1;
  for (int count = 1; count < all; count += step) {
    counts.push_back(count);
    if (count >= 8 * step) step *= 2;
  }
  counts.push_back(all);
  return counts;
}

PartBandwidth collective_rates(StreamBench& bench, std::int64_t part, std::int64_t size,
                               const StreamBench::Cores& cores) {
  PartBandwidth rates{.part = part, .size = size};
  for (const Stream stream : perfmodel::all_streams)
    rates.elements_per_second.emplace_back(
        stream, median_of([&] { return bench.collective_elements_per_second(stream, cores); }));
  return rates;
}

/// A loop by likwid-bench between two runs of it here; elements per second.
struct LikwidRound {
  double before = 0;
  double likwid = 0;
  double after = 0;

  double ours() const { return (before + after) / 2; }
  double unsteadiness() const { return std::abs(after - before) / ours(); }
};

/// A loop that is compared with likwid-bench's.
struct LikwidCase {
  Stream stream;
  const char* level;  // "memory", "L1", "L2"
  std::size_t rounds;
  LikwidBench::Place place;
  std::size_t array_bytes;  // of all threads
  std::int64_t passes;  // of likwid-bench
  std::function<double()> elements_per_second;  // here
};

LikwidCase case_in_memory(StreamBench& bench, Stream stream) {
  constexpr int passes = 10;
  return {stream,
          "memory",
          6,
          LikwidBench::Place::memory,
          bench.array_bytes(),
          passes,
          [&bench, stream] {
            double seconds_per_element = 0;
            for (int pass = 0; pass < passes; ++pass)
              seconds_per_element += 1 / bench.collective_elements_per_second(stream) / passes;
            return 1 / seconds_per_element;
          }};
}

LikwidCase case_in_cache(StreamBench& bench, Stream stream, int level, std::size_t bytes) {
  const auto elements = static_cast<std::size_t>(bench.elements_in_cache(stream, bytes));
  // Several milliseconds: likwid-bench takes a while to begin.
  const auto passes =
      static_cast<std::int64_t>(std::size_t{1} << 27) / static_cast<std::int64_t>(elements);
  return {stream,
          level == 1 ? "L1" : "L2",
          3,
          LikwidBench::Place::cache,
          elements * sizeof(double) * bench.domains().size(),
          passes,
          [&bench, stream, bytes] {
            return bench.collective_elements_per_second_in_cache(stream, bytes);
          }};
}

/// Elements per second, and the first / the second.
struct LikwidRates {
  double ours = 0;
  double likwid = 0;
  double ratio = 0;
};

LikwidRates median_rates(std::span<const LikwidRound> rounds) {
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  for (const LikwidRound& round : rounds) {
    ours.push_back(round.ours());
    theirs.push_back(round.likwid);
    ratios.push_back(round.ours() / round.likwid);
  }
  return {perfmodel::median(ours), perfmodel::median(theirs), perfmodel::median(ratios)};
}

/// In caches: what disturbs a loop there only takes time.
LikwidRates best_rates(std::span<const LikwidRound> rounds) {
  LikwidRates best;
  for (const LikwidRound& round : rounds) {
    best.ours = std::max({best.ours, round.before, round.after});
    best.likwid = std::max(best.likwid, round.likwid);
  }
  best.ratio = best.ours / best.likwid;
  return best;
}

/// In memory from the half of the rounds in which this machine changed least: bandwidth may differ
/// by half from one second to the next where it is shared. Nothing where likwid-bench gave no
/// bandwidth.
std::optional<LikwidLoop> beside_likwid(const LikwidBench& likwid, const LikwidCase& loop) {
  const double counted_bytes = perfmodel::traffic_of(loop.stream).counted_bytes;
  std::vector<LikwidRound> rounds(loop.rounds);
  double before = loop.elements_per_second();
  for (LikwidRound& round : rounds) {
    const auto found =
        likwid.bytes_per_second(loop.stream, loop.place, loop.array_bytes, loop.passes);
    if (!found) return std::nullopt;
    const double after = loop.elements_per_second();
    round = {before, *found / counted_bytes, after};
    before = after;
  }
  std::ranges::sort(rounds, {}, &LikwidRound::unsteadiness);
  const std::size_t steady_rounds = (rounds.size() + 1) / 2;
  const LikwidRates rates = loop.place == LikwidBench::Place::memory
                                ? median_rates(std::span(rounds).first(steady_rounds))
                                : best_rates(rounds);
  return LikwidLoop{.stream = loop.stream,
                    .level = loop.level,
                    .kernel = LikwidBench::kernel_name(loop.stream, loop.place),
                    .bytes_per_second = rates.ours * counted_bytes,
                    .likwid_bytes_per_second = rates.likwid * counted_bytes,
                    .ratio = rates.ratio,
                    .unsteadiness = rounds[steady_rounds - 1].unsteadiness(),
                    .agrees = std::abs(rates.ratio - 1) <= likwid_tolerance};
}

/// A thread's share of a cache, the least of all ranks; 0 where it is unknown.
std::int64_t collective_cache_share(const Job& job, int level) {
  const auto cache = job.topology().cache_of(job.placement().compute_pus.front(), level);
  return job.world().min(static_cast<std::int64_t>(
      cache ? cache->bytes / static_cast<std::size_t>(cache->sharing_pus) : 0));
}

/// Loops that make sense in caches: stores past them do not.
constexpr std::array cache_streams{Stream::load, Stream::store, Stream::update, Stream::copy,
                                   Stream::triad};

}  // namespace

std::vector<PartBandwidth> collective_bandwidth_of_cores(const Job& job, StreamBench& bench) {
  std::vector<PartBandwidth> list;
  // Cores of other ranks cannot share data in the memory of one rank.
  if (job.world().size() > 1) return list;
  for (const int count : core_counts(job.team().thread_count()))
    list.push_back(collective_rates(
        bench, count, count, [count](const TeamThread& thread) { return thread.index < count; }));
  return list;
}

std::vector<PartBandwidth> collective_bandwidth_of_domains(const Job& job, StreamBench& bench) {
  const unsigned own = *std::max_element(bench.domains().begin(), bench.domains().end());
  const auto last = job.world().max(std::int64_t{own});
  std::vector<PartBandwidth> list;
  if (last == 0) return list;  // one domain is all
  for (std::int64_t domain = 0; domain <= last; ++domain) {
    const auto count = job.world().sum(
        std::int64_t{std::ranges::count(bench.domains(), static_cast<unsigned>(domain))});
    if (count == 0) continue;
    list.push_back(collective_rates(bench, domain, count, [&](const TeamThread& thread) {
      return bench.domains()[static_cast<std::size_t>(thread.index)] == domain;
    }));
  }
  return list;
}

std::vector<PartBandwidth> collective_bandwidth_of_caches(const Job& job, StreamBench& bench) {
  std::vector<PartBandwidth> list;
  for (const int level : {1, 2, 3}) {
    const std::int64_t bytes = collective_cache_share(job, level);
    if (bytes == 0) continue;
    PartBandwidth& cache = list.emplace_back(PartBandwidth{.part = level, .size = bytes});
    for (const Stream stream : cache_streams)
      cache.elements_per_second.emplace_back(stream, bench.collective_elements_per_second_in_cache(
                                                         stream, static_cast<std::size_t>(bytes)));
  }
  return list;
}

LikwidComparison collective_likwid_comparison(const Job& job, StreamBench& bench,
                                              const OnStep& on_step) {
  if (job.world().size() > 1)
    return {.missing = "several ranks: run one rank with all threads of the node to compare"};
  std::map<unsigned, int> threads_of_domain;
  for (const unsigned domain : bench.domains()) ++threads_of_domain[domain];
  const LikwidBench likwid(threads_of_domain, job.placement().compute_pus);
  if (!likwid.is_installed()) return {.missing = "likwid-bench is not installed (Debian: likwid)"};
  std::vector<LikwidCase> loops;
  for (const Stream stream : perfmodel::all_streams) loops.push_back(case_in_memory(bench, stream));
  for (const int level : {1, 2})
    if (const auto bytes = static_cast<std::size_t>(collective_cache_share(job, level)))
      for (const Stream stream : cache_streams)
        loops.push_back(case_in_cache(bench, stream, level, bytes));
  LikwidComparison comparison;
  for (const LikwidCase& loop : loops) {
    on_step(comparison.loops.size(), loops.size());
    const auto found = beside_likwid(likwid, loop);
    if (!found) {
      comparison.missing = "likwid-bench -t " + LikwidBench::kernel_name(loop.stream, loop.place) +
                           " gave no bandwidth; run it to see why";
      break;
    }
    comparison.loops.push_back(*found);
  }
  return comparison;
}

}  // namespace weft::library
