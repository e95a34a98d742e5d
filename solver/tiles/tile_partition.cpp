#include "solver/tiles/tile_partition.h"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

/// First of the things in part `index`, of `count` things cut into `parts`.
int cut(std::int64_t count, std::int64_t index, std::int64_t parts) {
  return static_cast<int>(count * index / parts);
}

/// In which part thing number `thing` is: the inverse of `cut`.
int part_of(std::int64_t thing, std::int64_t count, std::int64_t parts) {
  return static_cast<int>(((thing + 1) * parts - 1) / count);
}

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

TilePartition::TilePartition(int tiles_per_side, int rank_count)
    : tiles_per_side_(tiles_per_side), rank_count_(rank_count) {
  const std::int64_t tile_count = std::int64_t{tiles_per_side} * tiles_per_side;
  if (rank_count > tile_count)
    throw comm_thread::InputError(
        fmt::format("subdomains: found {} x {} for {} ranks; expected at least one for each",
                    tiles_per_side, tiles_per_side, rank_count));
  int fewest_cuts = std::numeric_limits<int>::max();
  for (int columns = 1; columns <= rank_count; ++columns) {
    const int rows = rank_count / columns;
    if (rows * columns != rank_count || rows > tiles_per_side || columns > tiles_per_side) continue;
    const std::int64_t most = ceiling(tiles_per_side, rows) * ceiling(tiles_per_side, columns);
    if (most > ceiling(tile_count, rank_count) || rows + columns >= fewest_cuts) continue;
    fewest_cuts = rows + columns;
    columns_ = columns;
  }
}

std::vector<int> TilePartition::tiles_of(int rank) const {
  std::vector<int> tiles;
  const int side = tiles_per_side_;
  if (!is_in_boxes()) {
    const std::int64_t count = std::int64_t{side} * side;
    for (int tile = cut(count, rank, rank_count_); tile < cut(count, rank + 1, rank_count_); ++tile)
      tiles.push_back(tile);
    return tiles;
  }
  const int row = rank / columns_;
  const int column = rank % columns_;
  for (int y = cut(side, row, rows()); y < cut(side, row + 1, rows()); ++y)
    for (int x = cut(side, column, columns_); x < cut(side, column + 1, columns_); ++x)
      tiles.push_back(y * side + x);
  return tiles;
}

int TilePartition::rank_of(int tile) const {
  const int side = tiles_per_side_;
  if (!is_in_boxes()) return part_of(tile, std::int64_t{side} * side, rank_count_);
  return part_of(tile / side, side, rows()) * columns_ + part_of(tile % side, side, columns_);
}

}  // namespace weft::solver
