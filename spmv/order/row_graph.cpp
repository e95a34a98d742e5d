#include "spmv/order/row_graph.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/scramble.h"

namespace weft::spmv {
namespace {

using comm_thread::InputError;

/// Both directions of every entry must have a 32-bit number.
constexpr std::int64_t most_nonzeros = std::int64_t{1} << 30;

constexpr const char* too_little_memory = "ordering the rows needs more memory than rank 0 has";

/// The rows of this rank: of each the number of columns, then the columns.
std::vector<std::int32_t> own_rows(const DistributedMatrix& matrix) {
  std::vector<std::int32_t> words;
  words.reserve(static_cast<std::size_t>(matrix.rows.row_count) +
                static_cast<std::size_t>(matrix.rows.nonzero_count()));
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows.row_count); ++row) {
    const auto begin = matrix.rows.row_offsets[row];
    const auto end = matrix.rows.row_offsets[row + 1];
    words.push_back(static_cast<std::int32_t>(end - begin));
    for (auto k = begin; k < end; ++k)
      words.push_back(static_cast<std::int32_t>(
          matrix.global_column(matrix.rows.columns[static_cast<std::size_t>(k)])));
  }
  return words;
}

/// Calls `take(row, column)` for every entry off the diagonal.
template <class Take>
void visit_entries(const std::vector<std::vector<std::int32_t>>& parts, const Take& take) {
  std::int32_t row = 0;
  for (const auto& words : parts)
    for (std::size_t i = 0; i < words.size(); ++row) {
      const auto count = static_cast<std::size_t>(words[i++]);
      for (const std::int32_t column : std::span(words).subspan(i, count))
        if (column != row) take(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
      i += count;
    }
}

/// Merges the columns of each row, up to `middles` of it, with the rows of its column, both
/// ascending; what is in both once.
void merge_directions(RowGraph& graph, const std::vector<std::int32_t>& middles) {
  std::vector<std::int32_t> merged;
  std::int32_t end = 0;
  for (std::size_t row = 0; row + 1 < graph.offsets.size(); ++row) {
    const auto first = graph.neighbours.begin() + graph.offsets[row];
    const auto middle = graph.neighbours.begin() + middles[row];
    const auto last = graph.neighbours.begin() + graph.offsets[row + 1];
    graph.offsets[row] = end;
    merged.clear();
    std::set_union(first, middle, middle, last, std::back_inserter(merged));
    std::ranges::copy(merged, graph.neighbours.begin() + end);
    end += static_cast<std::int32_t>(merged.size());
  }
  graph.offsets.back() = end;
  graph.neighbours.resize(static_cast<std::size_t>(end));
}

/// The graph of entries of which every one has a transposed one, nothing if that is not so.
/// `visit`: as below. Each entry adds bits of its own, which the transposed one takes away; of
/// other matrices, one in 2⁶⁴ has a sum of 0.
template <class Visit>
std::optional<RowGraph> symmetric_graph(GlobalIndex row_count, std::int64_t most_entries,
                                        const Visit& visit) {
  RowGraph graph;
  graph.offsets.assign(static_cast<std::size_t>(row_count) + 1, 0);
  graph.neighbours.resize(static_cast<std::size_t>(most_entries));
  std::uint64_t sum = 0;
  std::size_t count = 0;
  visit([&](std::size_t row, std::size_t column) {
    ++graph.offsets[row + 1];
    graph.neighbours[count++] = static_cast<std::int32_t>(column);
    const std::uint64_t bits = scramble(std::min(row, column) << 32 | std::max(row, column));
    sum += row < column ? bits : -bits;
  });
  if (sum != 0) return std::nullopt;
  graph.neighbours.resize(count);
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  return graph;
}

/// `visit(take)` calls take(row, column) for every entry off the diagonal, in ascending order of
/// row and, within it, of column; these are at most `most_entries`. Where all have a transposed one
/// a quarter of the time that others take: fem50k 2 ms.
template <class Visit>
RowGraph build_graph(GlobalIndex row_count, std::int64_t most_entries, const Visit& visit) {
  if (auto symmetric = symmetric_graph(row_count, most_entries, visit))
    return std::move(*symmetric);
  RowGraph graph;
  graph.offsets.assign(static_cast<std::size_t>(row_count) + 1, 0);
  std::vector<std::int32_t> middles(static_cast<std::size_t>(row_count), 0);
  visit([&](std::size_t row, std::size_t column) {
    ++middles[row];
    ++graph.offsets[row + 1];
    ++graph.offsets[column + 1];
  });
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  for (std::size_t row = 0; row < middles.size(); ++row) middles[row] += graph.offsets[row];
  graph.neighbours.resize(static_cast<std::size_t>(graph.offsets.back()));
  std::vector<std::int32_t> of_row(graph.offsets.begin(), graph.offsets.end() - 1);
  std::vector<std::int32_t> of_column = middles;
  visit([&](std::size_t row, std::size_t column) {
    graph.neighbours[static_cast<std::size_t>(of_row[row]++)] = static_cast<std::int32_t>(column);
    graph.neighbours[static_cast<std::size_t>(of_column[column]++)] =
        static_cast<std::int32_t>(row);
  });
  merge_directions(graph, middles);
  return graph;
}

}  // namespace

void check_graph_size(std::int64_t count) {
  if (count >= most_nonzeros)
    throw InputError("found " + std::to_string(count) + " rows or nonzeros to order; expected " +
                     "fewer than " + std::to_string(most_nonzeros));
}

RowGraph own_row_graph(const CrsMatrix& rows) {
  check_graph_size(std::max<std::int64_t>(rows.nonzero_count(), rows.row_count));
  return build_graph(rows.row_count, rows.nonzero_count(), [&](const auto& take) {
    for (LocalIndex row = 0; row < rows.row_count; ++row)
      for (auto i = rows.row_offsets[static_cast<std::size_t>(row)];
           i < rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++i) {
        const LocalIndex column = rows.columns[static_cast<std::size_t>(i)];
        if (column < rows.row_count && column != row)
          take(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
      }
  });
}

RowGraph node_graph(const RowGraph& rows, int size) {
  RowGraph nodes;
  std::vector<std::int32_t> of_node;
  for (std::int32_t node = 0; node < rows.row_count() / size; ++node) {
    of_node.clear();
    for (auto k = static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>(node * size)]);
         k < static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>((node + 1) * size)]);
         ++k)
      if (const std::int32_t other = rows.neighbours[k] / size; other != node)
        of_node.push_back(other);
    std::ranges::sort(of_node);
    of_node.erase(std::unique(of_node.begin(), of_node.end()), of_node.end());
    nodes.neighbours.insert(nodes.neighbours.end(), of_node.begin(), of_node.end());
    nodes.offsets.push_back(static_cast<std::int32_t>(nodes.neighbours.size()));
  }
  return nodes;
}

RowGraph collective_gather_row_graph(const comm_thread::Communicator& communicator,
                                     const DistributedMatrix& matrix) {
  check_graph_size(std::max(matrix.global_nonzero_count, matrix.partition.row_count()));
  if (communicator.size() == 1) {
    try {
      return own_row_graph(matrix.rows);
    } catch (const std::bad_alloc&) {
      throw InputError(too_little_memory);
    }
  }
  comm_thread::Lists<std::int32_t> lists;
  lists[0] = own_rows(matrix);
  auto received = comm_thread::collective_sparse_exchange(communicator, std::move(lists));
  RowGraph graph;
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    try {
      std::vector<std::vector<std::int32_t>> parts;
      for (auto& [rank, list] : received) parts.push_back(std::move(list));
      graph = build_graph(matrix.partition.row_count(), matrix.global_nonzero_count,
                          [&](const auto& take) { visit_entries(parts, take); });
    } catch (const std::bad_alloc&) {
      throw InputError(too_little_memory);
    }
  });
  return graph;
}

}  // namespace weft::spmv
