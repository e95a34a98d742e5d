#include "solver/simulation/sweep_threads.h"

#include <algorithm>

#include "comm_thread/placement/compute_team.h"

namespace weft::solver {

int useful_threads(const SweepRunOptions& options, const MachineModel& model,
                   double charged_points) {
  if (options.variant == SimulatedVariant::sync ||
      options.detector == comm_thread::DetectorKind::all_reduce)
    return 1;
  const double lookahead = model.lookahead();
  const double begun = options.rank_count * lookahead / model.sweep_seconds(0, 0, charged_points);
  const bool promises_ahead =
      options.detector == comm_thread::DetectorKind::residual && !options.reduces_by_schedules;
  const double fewest = promises_ahead ? 0.4 : 2;
  if (lookahead <= 0 || begun < fewest) return 1;
  const int most = std::max(2, options.rank_count / options.fewest_ranks_a_thread);
  return std::min({options.thread_count, model.node_count(), most});
}

std::vector<comm_thread::RankRange> ranks_of_threads(const SweepRunOptions& options,
                                                     const MachineModel& model, int thread_count) {
  std::vector<comm_thread::RankRange> ranges;
  for (int thread = 0; thread < thread_count; ++thread) {
    const auto nodes = comm_thread::share_of(model.node_count(), thread, thread_count);
    const auto rank = [&](std::int64_t node) {
      return static_cast<int>(
          std::min<std::int64_t>(node * options.machine.ranks_per_node, options.rank_count));
    };
    ranges.push_back({rank(nodes.begin), rank(nodes.end)});
  }
  return ranges;
}

}  // namespace weft::solver
