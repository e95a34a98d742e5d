#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/coarsest_grid.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/pass_memory.h"
#include "solver/multigrid/passes/tiles.h"

namespace weft::solver {

/// The V-cycle on the last grids, by the team of one rank, without messages.
class CoarseGrids {
 public:
  /// `levels`: all grids, the finest first; those before `first` are left out. They outlive this.
  CoarseGrids(const std::vector<GridLevel>& levels, std::size_t first,
              const comm_thread::ComputeTeam& team, int steps);
  CoarseGrids(const CoarseGrids&) = delete;
  CoarseGrids& operator=(const CoarseGrids&) = delete;

  /// Of the first of these grids. Its values at own points are the caller's to write.
  GridArray<float>& right_hand_side() { return levels_.front().f; }
  const GridArray<float>& solution() const { return levels_.front().e; }

  /// solution ≈ A⁻¹·right_hand_side. Thread: every thread of the team, after a barrier. Ends with
  /// one.
  void solve(const comm_thread::TeamThread& thread);

 private:
  struct Level {
    GridArray<float> f;
    GridArray<float> x;  // after smoothing on the way down
    GridArray<float> e;
    std::vector<std::vector<PassTile>> tiles;  // [threads]
    std::optional<DownPass<float>> down;
    std::optional<UpPass<float>> up;
  };

  std::vector<Level> levels_;
  CoarsestGrid coarsest_;
  std::vector<PassMemory<float>> memories_;  // [threads]
};

}  // namespace weft::solver
