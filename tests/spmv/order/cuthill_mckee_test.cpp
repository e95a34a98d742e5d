#include "spmv/order/cuthill_mckee.h"

#include <algorithm>
#include <array>
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

std::vector<std::int32_t> new_rows_of(const RowGraph& graph, int threads = 1) {
  const comm_thread::ComputeTeam team(threads, comm_thread::WaitPolicy::yield);
  return reverse_cuthill_mckee(team, pattern_of(graph).pattern);
}

/// By the definition, one row after the other.
class SerialOrder {
 public:
  explicit SerialOrder(const RowGraph& graph) : graph_(graph) {}

  std::vector<std::int32_t> new_rows() {
    std::vector<std::int32_t> order;
    for (std::int32_t row = 0; row < graph_.row_count(); ++row) {
      if (std::ranges::find(order, row) != order.end()) continue;
      const auto part = levels_of(row_at_rim(row));
      for (const auto& level : part) order.insert(order.end(), level.begin(), level.end());
    }
    std::vector<std::int32_t> rows(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      rows[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(order.size() - 1 - i);
    return rows;
  }

 private:
  using Levels = std::vector<std::vector<std::int32_t>>;

  auto key(std::int32_t row) const {
    return std::pair(graph_.degree(static_cast<std::size_t>(row)), row);
  }

  Levels levels_of(std::int32_t first) const {
    std::vector<bool> is_there(static_cast<std::size_t>(graph_.row_count()));
    is_there[static_cast<std::size_t>(first)] = true;
    Levels levels{{first}};
    while (!levels.back().empty()) {
      std::vector<std::int32_t> next;
      for (const std::int32_t row : levels.back()) {
        const auto before = std::ssize(next);
        const auto i = static_cast<std::size_t>(row);
        for (auto k = static_cast<std::size_t>(graph_.offsets[i]);
             k < static_cast<std::size_t>(graph_.offsets[i + 1]); ++k) {
          const std::int32_t neighbour = graph_.neighbours[k];
          if (is_there[static_cast<std::size_t>(neighbour)]) continue;
          is_there[static_cast<std::size_t>(neighbour)] = true;
          next.push_back(neighbour);
        }
        std::ranges::sort(next.begin() + before, next.end(), {},
                          [&](std::int32_t each) { return key(each); });
      }
      levels.push_back(std::move(next));
    }
    levels.pop_back();
    return levels;
  }

  std::int32_t row_at_rim(std::int32_t row) const {
    for (Levels levels = levels_of(row);;) {
      const std::int32_t next = *std::ranges::min_element(
          levels.back(), {}, [&](std::int32_t each) { return key(each); });
      Levels deeper = levels_of(next);
      if (deeper.size() <= levels.size()) return row;
      row = next;
      levels = std::move(deeper);
    }
  }

  const RowGraph& graph_;
};

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
  const auto rows = new_rows_of(graph_of(50, edges));
  CHECK(is_numbering(rows));
  CHECK(bandwidth(edges, rows) == 1);
}

TEST_CASE("reverse Cuthill-McKee numbers every part of a graph, and rows without neighbours") {
  const Edges edges{{0, 5}, {5, 2}, {1, 4}};
  const auto rows = new_rows_of(graph_of(7, edges));
  CHECK(is_numbering(rows));
  CHECK(bandwidth(edges, rows) == 1);
  CHECK(new_rows_of(graph_of(1, {})) == std::vector<std::int32_t>{0});
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
  const auto rows = new_rows_of(graph_of(size * size, edges));
  CHECK(is_numbering(rows));
  CHECK(bandwidth(edges, rows) <= size + 1);
}

TEST_CASE("any number of threads finds the order of one, level by level") {
  // Levels of some thousand rows that are shared, and a tail of small ones.
  constexpr int size = 9000;
  Edges edges;
  for (int row = 1; row < size; ++row)
    for (const std::uint64_t of : {1U, 2U, 3U}) {
      const auto before = static_cast<int>(random_bits(of, row) % static_cast<std::uint64_t>(row));
      edges.emplace_back(row, of == 3 && row > 20 ? row - 20 : before);
    }
  for (auto& [a, b] : edges)
    if (a > b) std::swap(a, b);
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const RowGraph graph = graph_of(size + 40, edges);
  const auto expected = SerialOrder(graph).new_rows();
  for (const int threads : {1, 2, 3, 9}) {
    CAPTURE(threads);
    CHECK(new_rows_of(graph, threads) == expected);
  }
}

TEST_CASE("a row may stand in its own list") {
  // Rows 0 and 2 do; a chain 1 - 0 - 2.
  const std::array<std::int64_t, 4> offsets{0, 3, 4, 6};
  const std::array<std::int32_t, 6> columns{0, 1, 2, 0, 0, 2};
  const std::array<std::int32_t, 3> degrees{2, 1, 1};
  const comm_thread::ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  CHECK(reverse_cuthill_mckee(team, {offsets, columns, degrees}) ==
        new_rows_of(graph_of(3, {{0, 1}, {0, 2}})));
}

}  // namespace
}  // namespace weft::spmv
