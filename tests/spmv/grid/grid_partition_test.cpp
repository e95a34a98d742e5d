#include "spmv/grid/grid_partition.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "tests/support/grid_reference.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;
using Dims = std::array<int, 3>;

constexpr GridSize grids[] = {{1, 1, 12}, {12, 1, 1}, {13, 2, 3}, {7, 9, 11}, {6, 6, 1}};

int rank_count(const GridPartition& partition) {
  return partition.dims()[0] * partition.dims()[1] * partition.dims()[2];
}

/// The points within `depth` of the box of `rank`, in each direction, that are not its own.
std::vector<GridBox> surroundings(const GridPartition& partition, int rank, int depth) {
  GridBox large = partition.box(rank);
  for (std::size_t d = 0; d < 3; ++d) {
    large.begin[d] -= depth;
    large.end[d] += depth;
  }
  std::vector<GridBox> result;
  for (const GridBox& point : tests::points(intersection(large, partition.domain())))
    if (intersection(point, partition.box(rank)).is_empty()) result.push_back(point);
  return result;
}

std::vector<GridBox> received_points(const GridPartition& partition, int rank, int depth) {
  std::vector<GridBox> result;
  for (const GridNeighbour& neighbour : partition.neighbours(rank, depth))
    for (const GridBox& point : tests::points(neighbour.received)) result.push_back(point);
  return result;
}

bool is_before(const GridBox& a, const GridBox& b) { return a.begin < b.begin; }

/// Each rank sends exactly the points that the other receives, and both have them.
void check_pairs(const GridPartition& partition, int depth) {
  for (int rank = 0; rank < rank_count(partition); ++rank) {
    int last = -1;
    for (const GridNeighbour& neighbour : partition.neighbours(rank, depth)) {
      CAPTURE(rank, neighbour.rank);
      CHECK(last < neighbour.rank);
      last = neighbour.rank;
      CHECK_FALSE(neighbour.sent.is_empty());
      CHECK(intersection(neighbour.sent, partition.box(rank)) == neighbour.sent);
      CHECK(intersection(neighbour.received, partition.box(neighbour.rank)) == neighbour.received);
      const auto back = partition.neighbours(neighbour.rank, depth);
      const auto me = std::find_if(back.begin(), back.end(),
                                   [&](const GridNeighbour& other) { return other.rank == rank; });
      REQUIRE(me != back.end());
      CHECK(me->sent == neighbour.received);
      CHECK(me->received == neighbour.sent);
    }
  }
}

TEST_CASE("boxes tile the grid, and their sizes differ by at most one point in each direction") {
  for (const GridSize& grid : grids)
    for (int ranks = 1; ranks <= 12; ++ranks) {
      CAPTURE(grid.x, grid.y, grid.z, ranks);
      if (grid.x == 6 && (ranks == 7 || ranks == 11)) continue;  // cannot be cut so
      const GridPartition partition(grid, ranks);
      CHECK(rank_count(partition) == ranks);
      std::map<std::array<GlobalIndex, 3>, int> owners;
      for (int rank = 0; rank < ranks; ++rank) {
        const GridBox box = partition.box(rank);
        CHECK_FALSE(box.is_empty());
        for (const GridBox& point : tests::points(box)) ++owners[point.begin];
        for (std::size_t d = 0; d < 3; ++d) {
          const GlobalIndex least = partition.domain().size(d) / partition.dims()[d];
          CHECK(box.size(d) >= least);
          CHECK(box.size(d) <= least + (partition.domain().size(d) % partition.dims()[d] != 0));
        }
      }
      for (const GridBox& point : tests::points(partition.domain()))
        CHECK(owners[point.begin] == 1);
      CHECK(std::ssize(owners) == partition.domain().point_count());
    }
}

TEST_CASE("ranks are numbered along x first") {
  const GridPartition partition({6, 6, 1}, 4);
  CHECK(partition.dims() == Dims{2, 2, 1});
  CHECK(partition.box(0) == GridBox{{0, 0, 0}, {3, 3, 1}});
  CHECK(partition.box(1) == GridBox{{3, 0, 0}, {6, 3, 1}});
  CHECK(partition.box(2) == GridBox{{0, 3, 0}, {3, 6, 1}});
  CHECK(partition.box(3) == GridBox{{3, 3, 0}, {6, 6, 1}});
}

TEST_CASE("the cut has the least surface, and spares the rows along x") {
  CHECK(GridPartition({16, 16, 16}, 1).dims() == Dims{1, 1, 1});
  // A cut of x has a quarter fewer points here than one of y.
  CHECK(GridPartition({200, 150, 90}, 2).dims() == Dims{1, 2, 1});
  CHECK(GridPartition({16, 16, 16}, 2).dims() == Dims{1, 1, 2});
  CHECK(GridPartition({16, 16, 16}, 4).dims() == Dims{1, 2, 2});
  CHECK(GridPartition({16, 16, 16}, 6).dims() == Dims{1, 2, 3});
  CHECK(GridPartition({16, 16, 16}, 7).dims() == Dims{1, 1, 7});
  CHECK(GridPartition({16, 16, 16}, 8).dims() == Dims{2, 2, 2});
  // Rows along y, where a cut costs four points each.
  CHECK(GridPartition({37, 211, 64}, 2).dims() == Dims{1, 1, 2});
  CHECK(GridPartition({50, 50, 1600}, 2).dims() == Dims{1, 1, 2});
  CHECK(GridPartition({50, 50, 1600}, 32).dims() == Dims{1, 1, 32});
  CHECK(GridPartition({1600, 50, 50}, 7).dims() == Dims{7, 1, 1});
  // 50³ points a process.
  CHECK(GridPartition({200, 200, 100}, 32).dims() == Dims{4, 4, 2});
  CHECK(GridPartition({400, 400, 400}, 512).dims() == Dims{8, 8, 8});
}

TEST_CASE("rows run along the longest direction where those along x are short") {
  CHECK(direction_of_long_rows({37, 211, 64}) == 1);
  CHECK(direction_of_long_rows({37, 64, 211}) == 2);
  CHECK(direction_of_long_rows({37, 64, 64}) == 0);
  CHECK(direction_of_long_rows({64, 300, 64}) == 0);
  CHECK(direction_of_long_rows({20, 20, 1600}) == 2);
  CHECK(direction_of_long_rows({50, 50, 1600}) == 0);  // large: many ranks will cut z
}

TEST_CASE("a turned grid has the same boxes on the same ranks") {
  const GridPartition partition({12, 9, 7}, 12);
  for (const std::size_t d : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const GridPartition turned = partition.with_x_exchanged(d);
    check_pairs(turned, 1);
    for (int rank = 0; rank < 12; ++rank) {
      GridBox box = partition.box(rank);
      std::swap(box.begin[0], box.begin[d]);
      std::swap(box.end[0], box.end[d]);
      CHECK(turned.box(rank) == box);
      CHECK(turned.owners(box) == std::vector{rank});
      CHECK(turned.neighbours(rank, 2).size() == partition.neighbours(rank, 2).size());
    }
  }
}

TEST_CASE("a grid that has not a point for every rank is refused") {
  CHECK_THROWS_AS(GridPartition({1, 1, 1}, 2), InputError);
  CHECK_THROWS_WITH(GridPartition({2, 2, 1}, 5),
                    "grid 2x2x1: cannot be cut into 5 boxes; expected fewer ranks or more points");
  // Enough points, but none of the directions can be cut into seven.
  CHECK_THROWS_AS(GridPartition({6, 6, 6}, 7), InputError);
}

TEST_CASE("a halo of one point comes through faces only") {
  for (const GridSize& grid : grids) {
    const GridPartition partition(grid, 4);
    CAPTURE(grid.x, grid.y, grid.z);
    check_pairs(partition, 1);
    for (int rank = 0; rank < 4; ++rank) {
      const GridBox own = partition.box(rank);
      std::vector<GridBox> faces;
      for (const GridBox& point : surroundings(partition, rank, 1)) {
        int outside = 0;
        for (std::size_t d = 0; d < 3; ++d)
          outside += point.begin[d] < own.begin[d] || point.begin[d] >= own.end[d];
        if (outside == 1) faces.push_back(point);
      }
      auto received = received_points(partition, rank, 1);
      std::sort(received.begin(), received.end(), is_before);
      std::sort(faces.begin(), faces.end(), is_before);
      CHECK(received == faces);
    }
  }
}

TEST_CASE("a deeper halo is all around") {
  for (const int ranks : {1, 2, 3, 4, 6, 8, 27})
    for (const int depth : {2, 3}) {
      CAPTURE(ranks, depth);
      const GridPartition partition({9, 10, 11}, ranks);
      check_pairs(partition, depth);
      for (int rank = 0; rank < ranks; ++rank) {
        auto received = received_points(partition, rank, depth);
        auto expected = surroundings(partition, rank, depth);
        std::sort(received.begin(), received.end(), is_before);
        std::sort(expected.begin(), expected.end(), is_before);
        CHECK(received == expected);
      }
    }
}

TEST_CASE("the rank in the middle has 6 neighbours, or 26 with a deeper halo") {
  const GridPartition partition({9, 9, 9}, 27);
  CHECK(partition.neighbours(13, 1).size() == 6);
  CHECK(partition.neighbours(13, 2).size() == 26);
  CHECK(partition.neighbours(0, 1).size() == 3);
  CHECK(partition.neighbours(0, 2).size() == 7);
}

TEST_CASE("a halo deeper than a rank has points is refused, on every rank alike") {
  const GridPartition partition({9, 6, 7}, 8);
  CHECK(partition.dims() == Dims{2, 2, 2});
  for (int rank = 0; rank < 8; ++rank) {
    CHECK(partition.neighbours(rank, 3).size() == 7);
    CHECK_THROWS_AS(partition.neighbours(rank, 4), InputError);
    CHECK_THROWS_WITH(partition.neighbours(rank, 0), "halo depth: found 0; expected at least 1");
    CHECK_THROWS_WITH(partition.neighbours(rank, 4),
                      "halo depth: found 4; expected at most 3, the points of a rank in direction "
                      "y");
  }
  // Only directions that are cut count.
  CHECK(GridPartition({2, 2, 12}, 2).neighbours(0, 6).size() == 1);
  CHECK(GridPartition({1, 1, 1}, 1).neighbours(0, 100).empty());
}

}  // namespace
}  // namespace weft::spmv
