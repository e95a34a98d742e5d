#include "spmv/order/graph_partition.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

/// Two groups of `size` rows, even and odd ones, all of a group neighbours, and row 0 of row 1.
RowGraph two_groups(std::int32_t size) {
  RowGraph graph;
  for (std::int32_t row = 0; row < 2 * size; ++row) {
    for (std::int32_t other = 0; other < 2 * size; ++other)
      if (other != row && (other % 2 == row % 2 || row + other == 1))
        graph.neighbours.push_back(other);
    graph.offsets.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
  }
  return graph;
}

TEST_CASE("a graph of two groups that hardly know each other is cut between them") {
  RowGraph graph = two_groups(10);
  const auto parts = partition_graph(graph, 2);
  REQUIRE(parts.size() == 20);
  CHECK(parts[0] != parts[1]);
  for (std::size_t row = 0; row < parts.size(); ++row) CHECK(parts[row] == parts[row % 2]);
}

TEST_CASE("every row is in one of the parts, however many there are") {
  RowGraph graph = two_groups(3);
  CHECK(partition_graph(graph, 1) == std::vector<std::int32_t>(6));
  for (const int part_count : {3, 6, 9}) {
    const auto parts = partition_graph(graph, part_count);
    CHECK(std::all_of(parts.begin(), parts.end(),
                      [&](std::int32_t part) { return part >= 0 && part < part_count; }));
  }
  RowGraph empty;
  CHECK(partition_graph(empty, 2).empty());
}

}  // namespace
}  // namespace weft::spmv
