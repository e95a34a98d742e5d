#include "spmv/order/cuthill_mckee.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/problems/random_numbers.h"

namespace weft::spmv {
namespace {

using Edges = std::vector<std::pair<int, int>>;

RowGraph graph_of(int row_count, const Edges& edges) {
  std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(row_count));
  for (const auto& [a, b] : edges) {
    lists[static_cast<std::size_t>(a)].push_back(b);
    lists[static_cast<std::size_t>(b)].push_back(a);
  }
  RowGraph graph;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    graph.neighbours.insert(graph.neighbours.end(), list.begin(), list.end());
    graph.offsets.push_back(static_cast<std::int32_t>(graph.neighbours.size()));
  }
  return graph;
}

/// A numbering without any order.
std::vector<int> shuffled(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::sort(numbers.begin(), numbers.end(),
            [](int a, int b) { return random_bits(7, a) < random_bits(7, b); });
  return numbers;
}

int bandwidth(const Edges& edges, const std::vector<std::int32_t>& new_rows) {
  int widest = 0;
  for (const auto& [a, b] : edges)
    widest = std::max(widest, std::abs(new_rows[static_cast<std::size_t>(a)] -
                                       new_rows[static_cast<std::size_t>(b)]));
  return widest;
}

bool is_numbering(std::vector<std::int32_t> rows) {
  std::sort(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

TEST_CASE("reverse Cuthill-McKee finds a chain again, however its links are numbered") {
  const auto numbers = shuffled(50);
  Edges edges;
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i)
    edges.emplace_back(numbers[i], numbers[i + 1]);
  const auto rows = reverse_cuthill_mckee(graph_of(50, edges));
  CHECK(is_numbering(rows));
  CHECK(bandwidth(edges, rows) == 1);
}

TEST_CASE("reverse Cuthill-McKee numbers every part of a graph, and rows without neighbours") {
  const Edges edges{{0, 5}, {5, 2}, {1, 4}};
  const auto rows = reverse_cuthill_mckee(graph_of(7, edges));
  CHECK(is_numbering(rows));
  CHECK(bandwidth(edges, rows) == 1);
  CHECK(reverse_cuthill_mckee(graph_of(1, {})) == std::vector<std::int32_t>{0});
}

TEST_CASE("reverse Cuthill-McKee makes the band of a shuffled grid little wider than the grid") {
  const int size = 12;
  const auto numbers = shuffled(size * size);
  const auto number = [&](int x, int y) { return numbers[static_cast<std::size_t>(x + size * y)]; };
  Edges edges;
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      if (x + 1 < size) edges.emplace_back(number(x, y), number(x + 1, y));
      if (y + 1 < size) edges.emplace_back(number(x, y), number(x, y + 1));
    }
  const auto rows = reverse_cuthill_mckee(graph_of(size * size, edges));
  CHECK(is_numbering(rows));
  CHECK(bandwidth(edges, rows) <= size + 1);
}

}  // namespace
}  // namespace weft::spmv
