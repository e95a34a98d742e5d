#include "solver/multigrid/passes/tiles.h"

#include <algorithm>
#include <array>
#include <limits>

#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

/// Points for which a second thread is worth its barrier.
constexpr GlobalIndex least_points_of_a_thread = 4096;

/// The parts in y and z that compute the fewest points twice.
std::array<GlobalIndex, 2> choose_parts(const GridBox& box, GlobalIndex depth,
                                        GlobalIndex tile_count, GlobalIndex points_in_cache) {
  const GlobalIndex planes = 3 * depth;  // about as many as are kept
  std::array<GlobalIndex, 2> best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  // As many that long rows fit, too: a plane of 1000×1000 points was one tile, of 37 MB.
  const GlobalIndex rows_in_cache =
      std::max<GlobalIndex>(1, points_in_cache / (planes * box.size(0)) - 2 * depth);
  const GlobalIndex most_y =
      std::min(box.size(1), std::max(4 * tile_count + 16, (box.size(1) - 1) / rows_in_cache + 1));
  for (GlobalIndex y = 1; y <= most_y; ++y) {
    const GlobalIndex rows = (box.size(1) + y - 1) / y;
    const bool fits = box.size(0) * (rows + 2 * depth) * planes <= points_in_cache;
    const GlobalIndex z = std::min(box.size(2), (tile_count + y - 1) / y);
    const GlobalIndex height = (box.size(2) + z - 1) / z;
    if (y * z < tile_count && y < box.size(1)) continue;
    const double work = static_cast<double>(rows + depth) * static_cast<double>(height + depth) /
                        static_cast<double>(rows * height);
    // Planes that leave the cache cost about half as much again.
    const double cost = fits ? work : 1.5 * work;
    const GlobalIndex rounds_of_team = (y * z + tile_count - 1) / tile_count;
    const double rounds =
        static_cast<double>(rounds_of_team * tile_count) / static_cast<double>(y * z);
    if (cost * rounds < least) {
      least = cost * rounds;
      best = {y, z};
    }
  }
  return best;
}

void append_tiles(const GridBox& box, const GridBox& own, int depth, int thread_count,
                  GlobalIndex points_in_cache, std::vector<std::vector<PassTile>>& tiles) {
  if (box.is_empty()) return;
  const GlobalIndex threads =
      std::clamp<GlobalIndex>(box.point_count() / least_points_of_a_thread, 1, thread_count);
  const auto [parts_y, parts_z] = choose_parts(box, depth, threads, points_in_cache);
  const GlobalIndex count = parts_y * parts_z;
  for (GlobalIndex z = 0; z < parts_z; ++z)
    for (GlobalIndex y = 0; y < parts_y; ++y) {
      GridBox part = box;
      part.begin[1] = box.begin[1] + box.size(1) * y / parts_y;
      part.end[1] = box.begin[1] + box.size(1) * (y + 1) / parts_y;
      part.begin[2] = box.begin[2] + box.size(2) * z / parts_z;
      part.end[2] = box.begin[2] + box.size(2) * (z + 1) / parts_z;
      const GlobalIndex thread = (z * parts_y + y) * threads / count;
      tiles[static_cast<std::size_t>(thread)].push_back({part, intersection(part, own)});
    }
}

}  // namespace

PassTiles cut_into_tiles(const GridBox& points, const GridBox& own, const GridBox& present,
                         const GridBox& grid, int depth, int thread_count,
                         GlobalIndex points_in_cache) {
  PassTiles tiles;
  tiles.interior.resize(static_cast<std::size_t>(thread_count));
  tiles.boundary.resize(static_cast<std::size_t>(thread_count));
  if (points.is_empty()) return tiles;
  GridBox inner = present;
  for (std::size_t d = 0; d < 3; ++d) {
    if (present.begin[d] > grid.begin[d]) inner.begin[d] += depth;
    if (present.end[d] < grid.end[d]) inner.end[d] -= depth;
    inner.begin[d] = std::min(inner.begin[d], present.end[d]);
    inner.end[d] = std::max(inner.end[d], inner.begin[d]);
  }
  if (inner.is_empty()) inner = {points.begin, points.begin};
  append_tiles(inner, own, depth, thread_count, points_in_cache, tiles.interior);
  for (const GridBox& box : spmv::shell(points, inner))
    append_tiles(box, own, depth, thread_count, points_in_cache, tiles.boundary);
  return tiles;
}

}  // namespace weft::solver
