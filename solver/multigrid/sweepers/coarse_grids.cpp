#include "solver/multigrid/sweepers/coarse_grids.h"

#include <algorithm>

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GridBox;

CoarseGrids::CoarseGrids(const std::vector<GridLevel>& levels, std::size_t first,
                         const comm_thread::ComputeTeam& team, int steps)
    : coarsest_(levels.back()), memories_(static_cast<std::size_t>(team.thread_count())) {
  for (std::size_t i = first; i < levels.size(); ++i) {
    const GridBox all = levels[i].points();
    levels_.push_back({.f = GridArray<float>(all, DownPass<float>::depth(steps)),
                       .x = {},
                       .e = GridArray<float>(all, std::max(steps, 2)),
                       .tiles = {},
                       .down = {},
                       .up = {}});
    if (i + 1 == levels.size()) break;
    Level& level = levels_.back();
    level.x = GridArray<float>(all, steps);
    // Nothing is missing: all tiles are interior.
    level.tiles = cut_into_tiles(all, all, all, all, steps + 1, team.thread_count()).interior;
    level.down.emplace(levels[i], levels[i + 1], steps);
    level.up.emplace(levels[i], steps);
  }
}

void CoarseGrids::solve(const TeamThread& thread) {
  const auto index = static_cast<std::size_t>(thread.index);
  for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
    Level& level = levels_[i];
    for (const PassTile& tile : level.tiles[index])
      level.down->run(tile, {.array = &level.f}, level.x, levels_[i + 1].f, memories_[index], {});
    thread.barrier();
  }
  if (thread.is_primary()) coarsest_.solve(levels_.back().f, levels_.back().e);
  thread.barrier();
  for (std::size_t i = levels_.size() - 1; i > 0; --i) {
    Level& level = levels_[i - 1];
    for (const PassTile& tile : level.tiles[index])
      level.up->run(tile, level.f, level.x, levels_[i].e, {.array = &level.e}, memories_[index],
                    {});
    thread.barrier();
  }
}

}  // namespace weft::solver
