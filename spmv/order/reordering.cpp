#include "spmv/order/reordering.h"

#include <malloc.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/order/cuthill_mckee.h"
#include "spmv/order/graph_partition.h"
#include "spmv/order/row_graph.h"
#include "spmv/order/symmetric_pattern.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

/// Decision of rank 0.
struct Decision {
  std::vector<std::int32_t> new_rows;  // [all rows]
  std::vector<GlobalIndex> part_sizes;  // [ranks]
};

Decision decide(const ComputeTeam& team, RowGraph graph, const OrderingChoice& choice,
                int rank_count) {
  const auto row_count = static_cast<std::size_t>(graph.row_count());
  Decision decision;
  decision.part_sizes.resize(static_cast<std::size_t>(rank_count));
  std::vector<std::int32_t> parts(row_count);
  if (choice.has_graph_partition) parts = partition_graph(graph, rank_count);
  for (const std::int32_t part : parts) ++decision.part_sizes[static_cast<std::size_t>(part)];
  if (choice.has_cuthill_mckee) {
    const StoredPattern stored = pattern_of(graph);
    decision.new_rows = reverse_cuthill_mckee(team, stored.pattern);
  } else {
    decision.new_rows.resize(row_count);
    std::iota(decision.new_rows.begin(), decision.new_rows.end(), 0);
  }
  // Part by part, in each the order found before.
  std::vector<std::int32_t> rows(row_count);
  for (std::size_t row = 0; row < row_count; ++row)
    rows[static_cast<std::size_t>(decision.new_rows[row])] = static_cast<std::int32_t>(row);
  std::vector<std::int32_t> next(decision.part_sizes.size());
  std::exclusive_scan(decision.part_sizes.begin(), decision.part_sizes.end(), next.begin(), 0);
  for (const std::int32_t row : rows)
    decision.new_rows[static_cast<std::size_t>(row)] =
        next[static_cast<std::size_t>(parts[static_cast<std::size_t>(row)])]++;
  return decision;
}

/// The decision of nodes for the rows of each.
Decision for_rows_of(const Decision& nodes, int size) {
  Decision rows;
  rows.new_rows.reserve(nodes.new_rows.size() * static_cast<std::size_t>(size));
  for (const std::int32_t node : nodes.new_rows)
    for (std::int32_t i = 0; i < size; ++i) rows.new_rows.push_back(node * size + i);
  for (const GlobalIndex part : nodes.part_sizes) rows.part_sizes.push_back(part * size);
  return rows;
}

Decision decide_for_nodes(const ComputeTeam& team, RowGraph graph, const OrderingChoice& choice,
                          int rank_count) {
  if (choice.node_size == 1) return decide(team, std::move(graph), choice, rank_count);
  graph = node_graph(graph, choice.node_size);
  return for_rows_of(decide(team, std::move(graph), choice, rank_count), choice.node_size);
}

/// Calls work() on rank 0. Collective. Throws comm_thread::InputError on every rank.
template <class Work>
void collective_try_on_root(const Communicator& communicator, const Work& work) {
  comm_thread::collective_attempt(communicator, [&] {
    if (!communicator.is_root()) return;
    try {
      work();
    } catch (const std::bad_alloc&) {
      throw comm_thread::InputError("ordering the rows needs more memory than rank 0 has");
    }
  });
}

Decision collective_decide(const Communicator& communicator, const ComputeTeam& team,
                           const DistributedMatrix& matrix, const OrderingChoice& choice) {
  Decision decision;
  if (choice.has_cuthill_mckee && !choice.has_graph_partition && choice.node_size == 1) {
    check_graph_size(std::max(matrix.global_nonzero_count, matrix.partition.row_count()));
    if (const auto stored = collective_gather_symmetric_pattern(communicator, team, matrix)) {
      collective_try_on_root(
          communicator, [&] { decision.new_rows = reverse_cuthill_mckee(team, stored->pattern); });
      return decision;
    }
  }
  RowGraph graph = collective_gather_row_graph(communicator, matrix);
  collective_try_on_root(communicator, [&] {
    decision = decide_for_nodes(team, std::move(graph), choice, communicator.size());
  });
  return decision;
}

/// From rank 0 to everybody the new numbers of his rows. Collective.
std::vector<GlobalIndex> collective_scatter(const Communicator& communicator,
                                            const RowPartition& partition,
                                            const std::vector<std::int32_t>& new_rows) {
  if (communicator.size() == 1) return {new_rows.begin(), new_rows.end()};
  comm_thread::Lists<std::int32_t> lists;
  for (int rank = 0; rank < partition.rank_count() && !new_rows.empty(); ++rank)
    lists[rank].assign(new_rows.begin() + partition.begin(rank),
                       new_rows.begin() + partition.end(rank));
  const auto own = comm_thread::collective_exchange_joined(communicator, std::move(lists));
  return {own.begin(), own.end()};
}

std::int64_t row_length(const DistributedMatrix& matrix, std::size_t row) {
  return matrix.rows.row_offsets[row + 1] - matrix.rows.row_offsets[row];
}

RowPartition collective_cut(const Communicator& communicator, const DistributedMatrix& matrix,
                            const OrderingChoice& choice, std::vector<GlobalIndex> part_sizes,
                            const std::vector<GlobalIndex>& new_rows) {
  const GlobalIndex row_count = matrix.partition.row_count();
  if (choice.has_graph_partition) {
    part_sizes.resize(static_cast<std::size_t>(communicator.size()));
    communicator.broadcast(part_sizes, 0);
    return RowPartition::by_sizes(part_sizes);
  }
  if (choice.partition_by == PartitionBy::rows)
    return RowPartition::by_rows(row_count, communicator.size());
  std::vector<GlobalIndex> nonzeros(static_cast<std::size_t>(RowPartition::block_count(row_count)));
  for (std::size_t row = 0; row < new_rows.size(); ++row)
    nonzeros[static_cast<std::size_t>(new_rows[row] / RowPartition::block_size(row_count))] +=
        row_length(matrix, row);
  communicator.sum(nonzeros);
  return RowPartition::by_nonzeros(row_count, communicator.size(), nonzeros);
}

}  // namespace

RowOrder collective_order_rows(const Communicator& communicator, const ComputeTeam& team,
                               const DistributedMatrix& matrix, const OrderingChoice& choice) {
  Decision decision = collective_decide(communicator, team, matrix, choice);
  auto new_rows = collective_scatter(communicator, matrix.partition, decision.new_rows);
  auto ordered =
      collective_cut(communicator, matrix, choice, std::move(decision.part_sizes), new_rows);
  decision = {};
  malloc_trim(0);  // otherwise the C library keeps on rank 0 what the graph has taken
  return {communicator, matrix.partition, std::move(ordered), std::move(new_rows)};
}

GlobalIndex collective_bandwidth(const Communicator& communicator, const ComputeTeam& team,
                                 const DistributedMatrix& matrix) {
  std::vector<GlobalIndex> of_threads(static_cast<std::size_t>(team.thread_count()));
  team.run([&](const comm_thread::TeamThread& thread) {
    const auto share = comm_thread::share_of(matrix.rows.row_count, thread.index, thread.count);
    GlobalIndex widest = 0;
    for (std::int64_t row = share.begin; row < share.end; ++row) {
      const auto i = static_cast<std::size_t>(row);
      const auto begin = static_cast<std::size_t>(matrix.rows.row_offsets[i]);
      const auto end = static_cast<std::size_t>(matrix.rows.row_offsets[i + 1]);
      if (begin == end) continue;
      // Rows are in ascending order of column.
      const GlobalIndex diagonal = matrix.first_row() + row;
      widest = std::max({widest, diagonal - matrix.global_column(matrix.rows.columns[begin]),
                         matrix.global_column(matrix.rows.columns[end - 1]) - diagonal});
    }
    of_threads[static_cast<std::size_t>(thread.index)] = widest;
  });
  return communicator.max(*std::ranges::max_element(of_threads));
}

}  // namespace weft::spmv
