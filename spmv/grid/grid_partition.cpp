#include "spmv/grid/grid_partition.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

std::array<GlobalIndex, 3> sizes(const GridSize& grid) { return {grid.x, grid.y, grid.z}; }

std::string text(const GridSize& grid) {
  return std::to_string(grid.x) + "x" + std::to_string(grid.y) + "x" + std::to_string(grid.z);
}

/// What all cuts together cost, in points. The points on a cut across the rows lie apart in memory,
/// and short rows are slow, so that one costs half as much again; four times where multigrid
/// computes along another direction than x and it counts: docs/notes/multigrid.md.
double surface(const GridSize& grid, const std::array<int, 3>& dims) {
  constexpr GlobalIndex few_points = 1 << 15;
  const auto points = sizes(grid);
  const std::size_t along =
      grid.x * grid.y * grid.z < few_points ? 0 : direction_of_long_rows(grid);
  double cost = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double each = d != along ? 1 : d == 0 ? 1.5 : 4;
    cost += each * (dims[d] - 1) * static_cast<double>(points[(d + 1) % 3] * points[(d + 2) % 3]);
  }
  return cost;
}

/// The part of `box` on the side `offset` (-1, 0, 1 per direction) that is `depth` points thick;
/// `is_outside`: beyond the box rather than in it.
GridBox side(const GridBox& box, const std::array<int, 3>& offset, int depth, bool is_outside) {
  GridBox part = box;
  for (std::size_t d = 0; d < 3; ++d) {
    if (offset[d] < 0) {
      part.begin[d] = box.begin[d] - (is_outside ? depth : 0);
      part.end[d] = part.begin[d] + depth;
    } else if (offset[d] > 0) {
      part.end[d] = box.end[d] + (is_outside ? depth : 0);
      part.begin[d] = part.end[d] - depth;
    }
  }
  return part;
}

}  // namespace

std::size_t direction_of_long_rows(const GridSize& grid) {
  constexpr GlobalIndex long_row = 64;
  constexpr GlobalIndex most_points = GlobalIndex{1} << 20;
  const GlobalIndex longest = std::max(grid.y, grid.z);
  if (grid.x >= long_row || longest < 2 * grid.x || longest > most_points / grid.x ||
      grid.x * grid.y > most_points / grid.z)
    return 0;
  return grid.y >= grid.z ? 1 : 2;
}

GridPartition::GridPartition(const GridSize& grid, int rank_count) : grid_(grid) {
  const auto points = sizes(grid);
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= rank_count; ++x) {
    if (rank_count % x != 0 || x > points[0]) continue;
    for (int y = 1; y <= rank_count / x; ++y) {
      const int z = rank_count / x / y;
      if (x * y * z != rank_count || y > points[1] || z > points[2]) continue;
      // The first of equals has the fewest cuts of x, then of y.
      if (const double cuts = surface(grid, {x, y, z}); cuts < least) {
        least = cuts;
        set_dims({x, y, z});
      }
    }
  }
  if (least == std::numeric_limits<double>::infinity())
    throw InputError("grid " + text(grid) + ": cannot be cut into " + std::to_string(rank_count) +
                     " boxes; expected fewer ranks or more points");
}

GridPartition GridPartition::in_planes(const GridSize& grid, int rank_count) {
  return {grid, {1, 1, rank_count}};
}

void GridPartition::set_dims(const std::array<int, 3>& dims) {
  dims_ = dims;
  steps_ = {1, dims[0], dims[0] * dims[1]};
}

GridPartition GridPartition::with_x_exchanged(std::size_t d) const {
  GridPartition result = *this;
  result.grid_ = grid_.with_x_exchanged(d);
  std::swap(result.dims_[0], result.dims_[d]);
  std::swap(result.steps_[0], result.steps_[d]);
  return result;
}

std::array<int, 3> GridPartition::place(int rank) const {
  std::array<int, 3> where{};
  for (std::size_t d = 0; d < 3; ++d) where[d] = rank / steps_[d] % dims_[d];
  return where;
}

GlobalIndex GridPartition::cut(std::size_t direction, int index) const {
  return sizes(grid_)[direction] * index / dims_[direction];
}

GridBox GridPartition::box(int rank) const {
  GridBox box;
  const auto where = place(rank);
  for (std::size_t d = 0; d < 3; ++d) {
    box.begin[d] = cut(d, where[d]);
    box.end[d] = cut(d, where[d] + 1);
  }
  return box;
}

std::vector<int> GridPartition::owners(const GridBox& box) const {
  std::vector<int> ranks;
  if (box.is_empty()) return ranks;
  std::array<int, 3> first{};
  std::array<int, 3> last{};
  const auto points = sizes(grid_);
  for (std::size_t d = 0; d < 3; ++d) {
    // The box of point i is the last one whose cut is at most i.
    const auto place_of = [&](GlobalIndex i) {
      auto index = static_cast<int>(i * dims_[d] / points[d]);
      while (index + 1 < dims_[d] && cut(d, index + 1) <= i) ++index;
      return index;
    };
    first[d] = place_of(box.begin[d]);
    last[d] = place_of(box.end[d] - 1);
  }
  for (int z = first[2]; z <= last[2]; ++z)
    for (int y = first[1]; y <= last[1]; ++y)
      for (int x = first[0]; x <= last[0]; ++x)
        ranks.push_back(x * steps_[0] + y * steps_[1] + z * steps_[2]);
  std::ranges::sort(ranks);
  return ranks;
}

std::vector<GridNeighbour> GridPartition::neighbours(int rank, int depth, bool has_corners) const {
  if (depth < 1)
    throw InputError("halo depth: found " + std::to_string(depth) + "; expected at least 1");
  for (std::size_t d = 0; d < 3; ++d)
    if (dims_[d] > 1 && sizes(grid_)[d] / dims_[d] < depth)
      throw InputError("halo depth: found " + std::to_string(depth) + "; expected at most " +
                       std::to_string(sizes(grid_)[d] / dims_[d]) +
                       ", the points of a rank in direction " + "xyz"[d]);
  const auto where = place(rank);
  std::vector<GridNeighbour> found;
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const std::array<int, 3> offset{x, y, z};
        const int cut_count = x * x + y * y + z * z;
        if (cut_count == 0 || (depth == 1 && !has_corners && cut_count > 1)) continue;
        bool exists = true;
        for (std::size_t d = 0; d < 3; ++d)
          exists = exists && where[d] + offset[d] >= 0 && where[d] + offset[d] < dims_[d];
        if (!exists) continue;
        found.push_back({rank + x * steps_[0] + y * steps_[1] + z * steps_[2],
                         side(box(rank), offset, depth, false),
                         side(box(rank), offset, depth, true)});
      }
  std::ranges::sort(found, {}, &GridNeighbour::rank);
  return found;
}

}  // namespace weft::spmv
