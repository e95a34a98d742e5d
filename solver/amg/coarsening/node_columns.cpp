#include "solver/amg/coarsening/node_columns.h"

#include <algorithm>
#include <utility>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::solver::amg {

using spmv::GlobalIndex;
using spmv::LocalIndex;

std::vector<NodeEntry> collective_fetch_tail(const comm_thread::Crew& crew,
                                             const LevelMatrix& level, const NodeRows& nodes) {
  std::vector<NodeEntry> entries;
  if (!nodes.are_cut()) return entries;
  comm_thread::Lists<NodeEntry> lists;
  const spmv::CrsMatrix& rows = level.matrix.rows;
  for (LocalIndex row = 0; row < nodes.head_count(); ++row)
    for (auto k = rows.row_offsets[static_cast<std::size_t>(row)];
         k < rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
      const auto place = static_cast<std::size_t>(k);
      entries.push_back({level.matrix.first_row() + row,
                         level.matrix.global_column(rows.columns[place]), rows.values[place]});
    }
  if (nodes.head_count() > 0) lists[nodes.nodes().owner(nodes.node(0))] = std::move(entries);
  // Ascending ranks have ascending rows.
  return comm_thread::collective_exchange_joined(crew.communicator(), std::move(lists));
}

LocalNodes::LocalNodes(const LevelMatrix& level, const NodeRows& nodes,
                       std::span<const NodeEntry> tail)
    : first_(nodes.nodes().begin(level.matrix.rank)), own_count_(nodes.node_count()) {
  const auto block = static_cast<GlobalIndex>(nodes.block_size());
  const auto add = [&](GlobalIndex node) {
    if (!is_own(node) && (others.empty() || others.back() != node)) others.push_back(node);
  };
  for (LocalIndex row = 0; row < nodes.head_count(); ++row) add(nodes.node(row));
  for (const GlobalIndex column : level.matrix.halo_columns) add(column / block);
  for (const NodeEntry& entry : tail) add(entry.column / block);
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  const auto column_count =
      static_cast<std::size_t>(level.row_count()) + level.matrix.halo_columns.size();
  of_column.reserve(column_count);
  for (std::size_t column = 0; column < column_count; ++column)
    of_column.push_back(local(level.matrix.global_column(static_cast<LocalIndex>(column)) / block));
}

LocalIndex LocalNodes::local(GlobalIndex node) const {
  if (is_own(node)) return static_cast<LocalIndex>(node - first_);
  return own_count_ +
         static_cast<LocalIndex>(std::ranges::lower_bound(others, node) - others.begin());
}

}  // namespace weft::solver::amg
