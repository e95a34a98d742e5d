#pragma once

#include <cstdint>

namespace weft::solver {

/// What a user can choose about multigrid, as a method and as a preconditioner.
struct MultigridSettings {
  static constexpr int most_steps = 4;

  int steps = 2;  // of the smoother before and after each coarser grid, from 1 to `most_steps`
  /// Points of a rank, in a direction that is cut, below which a grid moves to fewer ranks.
  std::int64_t least_points = 8;
  /// Begin from the solutions of coarser grids (full multigrid) instead of from 0. The method only.
  bool has_full_start = false;
};

}  // namespace weft::solver
