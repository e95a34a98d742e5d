#pragma once

#include <vector>

#include "solver/multigrid/passes/grid_pass.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// The tiles of a pass, by thread: those that need nothing from other ranks, and the others.
struct PassTiles {
  std::vector<std::vector<PassTile>> interior;  // [threads]
  std::vector<std::vector<PassTile>> boundary;  // [threads]
};

/// Points of the planes that a pass keeps, of all its stages: 1 MB. Twice as many take 1.25 times
/// as long where the last level of the caches is as slow as memory (docs/notes/multigrid.md).
inline constexpr spmv::GlobalIndex tile_points_in_cache = 256 * 1024;

/// Cuts `points` into tiles for a pass that reads up to `depth` points around them. `own`: the
/// rank's points; `present`: those whose values are there before the halo is; `grid`: all. Tiles
/// are as large as threads allow and `points_in_cache` of the planes that a pass keeps, because
/// each computes its rim again.
PassTiles cut_into_tiles(const spmv::GridBox& points, const spmv::GridBox& own,
                         const spmv::GridBox& present, const spmv::GridBox& grid, int depth,
                         int thread_count,
                         spmv::GlobalIndex points_in_cache = tile_points_in_cache);

}  // namespace weft::solver
