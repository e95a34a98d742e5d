#include "spmv/order/row_graph.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

/// Rows with these columns, all values 1.
CrsMatrix rows_of(const std::vector<std::vector<LocalIndex>>& lists) {
  CrsMatrix rows;
  rows.row_count = static_cast<LocalIndex>(lists.size());
  rows.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(lists.size() + 1);
  std::vector<LocalIndex> columns;
  for (std::size_t row = 0; row < lists.size(); ++row) {
    columns.insert(columns.end(), lists[row].begin(), lists[row].end());
    rows.row_offsets[row + 1] = std::ssize(columns);
  }
  rows.columns = perfmodel::HugePageBuffer<LocalIndex>(columns.size());
  rows.values = perfmodel::HugePageBuffer<double>(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    rows.columns[k] = columns[k];
    rows.values[k] = 1;
  }
  return rows;
}

TEST_CASE("the graph has both directions of each entry, once, and no diagonal") {
  const std::vector<std::int32_t> offsets{0, 1, 3, 4};
  const std::vector<std::int32_t> neighbours{1, 0, 2, 1};
  // The first of these has all of them already; the others one of a pair, or none on the diagonal.
  for (const auto& lists : std::vector<std::vector<std::vector<LocalIndex>>>{
           {{0, 1}, {0, 1, 2}, {1, 2}}, {{0, 1}, {1, 2}, {2}}, {{1}, {2}, {1}}}) {
    const RowGraph graph = own_row_graph(rows_of(lists));
    CHECK(graph.offsets == offsets);
    CHECK(graph.neighbours == neighbours);
  }
}

TEST_CASE("columns that other ranks own are left out of the graph, and empty rows stay alone") {
  // Columns 3 and 4 are of a halo.
  const RowGraph graph = own_row_graph(rows_of({{0, 2, 3}, {}, {0, 2, 4}}));
  CHECK(graph.offsets == std::vector<std::int32_t>{0, 1, 1, 2});
  CHECK(graph.neighbours == std::vector<std::int32_t>{2, 0});
  CHECK(own_row_graph(rows_of({})).row_count() == 0);
}

TEST_CASE("nodes are neighbours where rows of theirs are") {
  const RowGraph rows =
      own_row_graph(rows_of({{0, 1}, {0, 1, 4}, {2, 3}, {2, 3, 5}, {1, 4}, {3, 5}}));
  const RowGraph nodes = node_graph(rows, 2);
  CHECK(nodes.offsets == std::vector<std::int32_t>{0, 1, 2, 4});
  CHECK(nodes.neighbours == std::vector<std::int32_t>{2, 2, 0, 1});
}

}  // namespace
}  // namespace weft::spmv
