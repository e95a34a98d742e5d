#include "solver/tiles/tile_partition.h"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

TEST_CASE("every tile is on one rank, and no rank has more than its share") {
  for (int side = 1; side <= 7; ++side)
    for (int ranks = 1; ranks <= side * side; ++ranks) {
      CAPTURE(side, ranks);
      const TilePartition partition(side, ranks);
      std::vector<int> owners(static_cast<std::size_t>(side * side), -1);
      bool is_wrong = false;
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<int> tiles = partition.tiles_of(rank);
        is_wrong = is_wrong || tiles.empty() || !std::ranges::is_sorted(tiles) ||
                   static_cast<int>(tiles.size()) > (side * side + ranks - 1) / ranks;
        for (const int tile : tiles) {
          is_wrong = is_wrong || owners[static_cast<std::size_t>(tile)] != -1 ||
                     partition.rank_of(tile) != rank;
          owners[static_cast<std::size_t>(tile)] = rank;
        }
      }
      CHECK(!is_wrong);
      CHECK(std::ranges::find(owners, -1) == owners.end());
    }
}

TEST_CASE("boxes are cut where that is fair, with short cuts") {
  const TilePartition boxes(4, 4);
  CHECK(boxes.tiles_of(0) == std::vector<int>{0, 1, 4, 5});
  CHECK(boxes.tiles_of(3) == std::vector<int>{10, 11, 14, 15});
  const TilePartition rows(3, 3);
  CHECK(rows.is_in_boxes());
  CHECK(TilePartition(42, 2).is_in_boxes());
  const TilePartition order(3, 4);
  CHECK(!order.is_in_boxes());
  CHECK(order.tiles_of(0) == std::vector<int>{0, 1});
  CHECK(order.tiles_of(3) == std::vector<int>{6, 7, 8});
}

TEST_CASE("more ranks than tiles are refused") {
  CHECK_THROWS_WITH(TilePartition(2, 5),
                    "subdomains: found 2 x 2 for 5 ranks; expected at least one for each");
}

}  // namespace
}  // namespace weft::solver
