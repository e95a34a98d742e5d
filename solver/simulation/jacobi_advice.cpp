#include "solver/simulation/jacobi_advice.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "solver/simulation/jacobi_simulation.h"

namespace weft::solver {
namespace {

using comm_thread::TransportKind;

constexpr int fewest_ranks = 8;
constexpr int growth = 4;  // of the ranks, from one point of the scaling to the next

void run(JacobiTrial& trial, int seed_count) {
  JacobiSimulationOptions options = trial.options;
  for (int seed = 0; seed < seed_count; ++seed, ++options.seed) {
    const JacobiSimulationResult result = simulate_jacobi(options);
    trial.seconds.push_back(result.has_converged ? result.seconds
                                                 : std::numeric_limits<double>::infinity());
  }
}

/// What may be changed on a machine. Not all combinations: each transport with the number in flight
/// of `base` and with one, which shows when it acknowledges; another halo period with the first.
std::vector<JacobiTrial> candidates(const JacobiSimulationOptions& base) {
  std::vector<JacobiTrial> trials;
  const auto add = [&trials](const JacobiSimulationOptions& options) {
    trials.push_back({.options = options});
  };
  JacobiSimulationOptions sync = base;
  sync.variant = SimulatedVariant::sync;
  for (const spmv::Mode mode : {spmv::Mode::vector, spmv::Mode::overlap, spmv::Mode::task}) {
    sync.mode = mode;
    add(sync);
  }
  for (const SimulatedVariant variant : {SimulatedVariant::async, SimulatedVariant::racy}) {
    JacobiSimulationOptions options = base;
    options.variant = variant;
    for (const TransportKind kind :
         {TransportKind::two_sided, TransportKind::one_sided, TransportKind::shmem})
      for (const int max_in_flight : {base.max_in_flight, 1}) {
        options.transport = {.kind = kind};
        options.max_in_flight = max_in_flight;
        add(options);
      }
    options = base;
    options.variant = variant;
    options.halo_period = 4;
    add(options);
  }
  return trials;
}

/// The quickest of the trials for which `is_wanted`.
template <class IsWanted>
std::size_t quickest(const std::vector<JacobiTrial>& trials, const IsWanted& is_wanted) {
  std::size_t best = trials.size();
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (is_wanted(trials[i]) && (best == trials.size() || trials[i].mean() < trials[best].mean()))
      best = i;
  return best;
}

/// Mean seconds of a trial's settings on fewer ranks. A slow rank beyond them is the last one.
double seconds_at(const JacobiTrial& trial, int rank_count, int seed_count) {
  JacobiTrial fewer{.options = trial.options};
  fewer.options.rank_count = rank_count;
  fewer.options.machine.slow_rank = std::min(fewer.options.machine.slow_rank, rank_count - 1);
  run(fewer, seed_count);
  return fewer.mean();
}

}  // namespace

double JacobiTrial::mean() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

double JacobiTrial::spread() const {
  const auto [least, most] = std::ranges::minmax(seconds);
  return (most - least) / mean();
}

JacobiAdvice advise_jacobi(const JacobiSimulationOptions& base, int seed_count) {
  expect_between("seeds", seed_count, 1, 1000);
  check(base);
  JacobiAdvice advice;
  advice.trials = candidates(base);
  for (JacobiTrial& trial : advice.trials) run(trial, seed_count);
  advice.best = quickest(advice.trials, [](const JacobiTrial&) { return true; });
  advice.best_sync =
      quickest(advice.trials, [](const JacobiTrial& trial) { return trial.is_sync(); });
  advice.best_async =
      quickest(advice.trials, [](const JacobiTrial& trial) { return !trial.is_sync(); });
  const JacobiTrial& sync = advice.trials[advice.best_sync];
  const JacobiTrial& async = advice.trials[advice.best_async];
  const bool is_sync_best = advice.best == advice.best_sync;
  for (std::size_t seed = 0; seed < sync.seconds.size(); ++seed)
    advice.seeds_won += (sync.seconds[seed] < async.seconds[seed]) == is_sync_best;

  for (int ranks = fewest_ranks; ranks < base.rank_count; ranks *= growth)
    advice.scaling.push_back(
        {ranks, seconds_at(sync, ranks, seed_count), seconds_at(async, ranks, seed_count)});
  advice.scaling.push_back({base.rank_count, sync.mean(), async.mean()});
  for (auto point = advice.scaling.rbegin();
       point != advice.scaling.rend() && point->async_seconds < point->sync_seconds; ++point)
    advice.async_pays_from = point->rank_count;
  return advice;
}

}  // namespace weft::solver
