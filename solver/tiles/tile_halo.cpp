#include "solver/tiles/tile_halo.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace weft::solver {
namespace {

constexpr std::array<TileSide, 8> sides{TileSide{-1, -1}, {0, -1}, {1, -1}, {-1, 0},
                                        {1, 0},           {-1, 1}, {0, 1},  {1, 1}};

std::optional<int> tile_beside(const TilePartition& partition, int tile, TileSide side) {
  const int count = partition.tiles_per_side();
  const int column = tile % count + side.x;
  const int row = tile / count + side.y;
  if (column < 0 || column >= count || row < 0 || row >= count) return std::nullopt;
  return row * count + column;
}

std::size_t index_of(TileSide side) {
  std::size_t index = 0;
  while (sides[index].x != side.x || sides[index].y != side.y) ++index;
  return index;
}

/// Orders the strips of a message: the receiver's tile, then the side on which its ghosts are.
using Key = std::pair<int, std::size_t>;

/// Gives every strip its place in the message; returns the length of it.
std::int64_t lay_out(const std::map<Key, TileHalo::Strip>& ordered,
                     std::vector<TileHalo::Strip>& strips) {
  std::int64_t size = 0;
  for (const auto& [key, strip] : ordered) {
    strips.push_back(strip);
    strips.back().begin = size;
    size += static_cast<std::int64_t>(strip.area.point_count());
  }
  return size;
}

}  // namespace

TileHalo::TileHalo(const TilePartition& partition, const TileLayout& layout, int rank,
                   std::span<const int> slots) {
  std::map<int, int> slot_of;
  for (std::size_t slot = 0; slot < slots.size(); ++slot)
    slot_of[slots[slot]] = static_cast<int>(slot);
  struct Both {
    std::map<Key, Strip> sent;
    std::map<Key, Strip> received;
  };
  std::map<int, Both> by_rank;
  for (int slot = 0; slot < static_cast<int>(slots.size()); ++slot) {
    const int tile = slots[static_cast<std::size_t>(slot)];
    local_begin_.push_back(local_.size());
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const TileSide side = sides[i];
      const auto other = tile_beside(partition, tile, side);
      if (!other) continue;
      const int other_rank = partition.rank_of(*other);
      if (other_rank == rank) {
        local_.push_back(
            {slot, layout.ghosts(side), slot_of.at(*other), layout.source_of_ghosts(side)});
        continue;
      }
      const TileSide back{-side.x, -side.y};
      by_rank[other_rank].received[{tile, i}] = {slot, layout.ghosts(side), 0};
      by_rank[other_rank].sent[{*other, index_of(back)}] = {slot, layout.source_of_ghosts(back), 0};
    }
  }
  local_begin_.push_back(local_.size());
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (const auto& [other_rank, both] : by_rank) {
    Message& message = messages_.emplace_back();
    const std::int64_t send_count = lay_out(both.sent, message.sent);
    const std::int64_t receive_count = lay_out(both.received, message.received);
    neighbours_.push_back({other_rank, sent, send_count, received, receive_count});
    sent += send_count;
    received += receive_count;
  }
}

std::span<const TileHalo::LocalStrip> TileHalo::local_strips(int slot) const {
  const std::size_t begin = local_begin_[static_cast<std::size_t>(slot)];
  return std::span(local_).subspan(begin, local_begin_[static_cast<std::size_t>(slot) + 1] - begin);
}

bool is_surrounded(const TilePartition& partition, int tile) {
  return std::ranges::all_of(sides, [&](TileSide side) {
    const auto other = tile_beside(partition, tile, side);
    return !other || partition.rank_of(*other) == partition.rank_of(tile);
  });
}

}  // namespace weft::solver
