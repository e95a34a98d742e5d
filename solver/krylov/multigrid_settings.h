#pragma once

#include <cstdint>

namespace weft::solver {

/// What a user can choose about multigrid, as a method and as a preconditioner.
struct MultigridSettings {
  static constexpr int most_steps = 4;

  int steps = 2;  // of the smoother before and after each coarser grid, from 1 to `most_steps`
  /// Points of a rank, in a direction that is cut, below which a grid moves to fewer ranks; 0: what
  /// a model finds quickest, from measured exchanges.
  std::int64_t least_points = 0;
  /// Begin from the solutions of coarser grids (full multigrid) instead of from 0. The method only.
  bool has_full_start = false;
  /// Values of the hierarchy in double precision. x, b and the residual are so in any case.
  bool is_double = false;
};

}  // namespace weft::solver
