#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "solver/tiles/tile_layout.h"
#include "solver/tiles/tile_partition.h"

namespace weft::solver {

/// Origin of the ghost points of a rank's tiles, and their places in messages.
///
/// A message holds the strips that the receiver needs, by its tiles' numbers and then by side, so
/// that both ends agree without a word.
class TileHalo {
 public:
  /// A strip of ghost points of one tile, or the own points of another that it is a copy of.
  struct Strip {
    int slot = 0;  // number of the tile on this rank
    TileArea area;
    std::int64_t begin = 0;  // in the message
  };
  /// Ghost points that are own points of another tile of this rank.
  struct LocalStrip {
    int slot = 0;
    TileArea area;
    int source_slot = 0;
    TileArea source_area;
  };
  struct Message {
    std::vector<Strip> sent;
    std::vector<Strip> received;
  };

  /// `slots`: the number of the tile that each slot holds, any order.
  TileHalo(const TilePartition& partition, const TileLayout& layout, int rank,
           std::span<const int> slots);

  std::span<const comm_thread::HaloNeighbour> neighbours() const { return neighbours_; }
  /// Messages to and from a neighbour.
  const Message& message(std::size_t neighbour) const { return messages_[neighbour]; }
  /// The strips of `slot` that are on this rank.
  std::span<const LocalStrip> local_strips(int slot) const;

 private:
  std::vector<comm_thread::HaloNeighbour> neighbours_;
  std::vector<Message> messages_;  // one for each neighbour
  std::vector<LocalStrip> local_;  // by slot
  std::vector<std::size_t> local_begin_;  // [slots + 1]
};

/// True if all tiles around `tile` belong to the rank that it belongs to.
bool is_surrounded(const TilePartition& partition, int tile);

}  // namespace weft::solver
