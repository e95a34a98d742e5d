#pragma once

#include <cstddef>

#include "solver/levels/gathering.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/modes/mode.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// What can be chosen about a cycle.
struct CycleOptions {
  int steps = 2;  // of the smoother before and after, at most 4
  int finest_steps = 0;  // on the finest grid, at most 8; 0: as on the others
  /// Points of a rank, in a direction that is cut, below which a grid moves to fewer ranks. 0:
  /// to be chosen by `collective_with_gathering`.
  spmv::GlobalIndex least_points = 8;
  Gathering gathering{};  // what was chosen, for reports
  bool has_full_start = false;  // solutions of coarse grids come with what FullStart needs
  /// Points that a pass keeps of all planes it works on: tiles are as large as that allows.
  spmv::GlobalIndex points_in_cache = tile_points_in_cache;
  bool is_double = false;  // values of double instead of single precision, for who chooses
  spmv::Mode mode = spmv::Mode::task;

  int steps_on(std::size_t level) const {
    return level == 0 && finest_steps > 0 ? finest_steps : steps;
  }
};

}  // namespace weft::solver
