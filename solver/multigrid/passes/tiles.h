#pragma once

#include <vector>

#include "solver/multigrid/passes/grid_pass.h"
#include "spmv/grid/box.h"

namespace weft::solver {

/// The tiles of a pass, by thread: those that need nothing from other ranks, and the others.
struct PassTiles {
  std::vector<std::vector<PassTile>> interior;  // [threads]
  std::vector<std::vector<PassTile>> boundary;  // [threads]
};

/// Cuts `points` into tiles for a pass that reads up to `depth` points around them. `own`: the
/// rank's points; `present`: those whose values are there before the halo is; `grid`: all. Tiles
/// are as large as threads and caches allow, because each computes its rim again.
PassTiles cut_into_tiles(const spmv::GridBox& points, const spmv::GridBox& own,
                         const spmv::GridBox& present, const spmv::GridBox& grid, int depth,
                         int thread_count);

}  // namespace weft::solver
