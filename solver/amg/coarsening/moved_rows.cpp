#include "solver/amg/coarsening/moved_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/index.h"

namespace weft::solver::amg {
namespace {

using spmv::GlobalIndex;

struct MovedEntry {
  GlobalIndex row;
  GlobalIndex column;
  double value;
};

}  // namespace

spmv::DistributedMatrix collective_move_rows(const comm_thread::Crew& crew,
                                             const spmv::DistributedMatrix& matrix,
                                             const spmv::RowPartition& partition) {
  std::map<int, std::vector<MovedEntry>> leaving;
  const spmv::CrsMatrix& rows = matrix.rows;
  for (spmv::LocalIndex row = 0; row < rows.row_count; ++row) {
    const GlobalIndex global = matrix.first_row() + row;
    std::vector<MovedEntry>& entries = leaving[partition.owner(global)];
    const auto i = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
         k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k)
      entries.push_back({global, matrix.global_column(rows.columns[k]), rows.values[k]});
  }
  std::map<int, comm_thread::Bytes> messages;
  for (auto& [owner, entries] : leaving) messages[owner] = comm_thread::to_bytes(entries);
  // Ascending ranks, and each sends its rows in order: all entries are in order.
  std::vector<MovedEntry> arrived;
  for (const auto& [source, bytes] :
       comm_thread::collective_sparse_exchange(crew.communicator(), std::move(messages))) {
    const std::vector<MovedEntry> entries = comm_thread::from_bytes<MovedEntry>(bytes);
    arrived.insert(arrived.end(), entries.begin(), entries.end());
  }
  spmv::DistributedMatrix moved{.partition = partition,
                                .rank = matrix.rank,
                                .rows = {},
                                .halo_columns = {},
                                .global_nonzero_count = matrix.global_nonzero_count};
  const GlobalIndex first = moved.first_row();
  const GlobalIndex count = partition.size(matrix.rank);
  const auto is_own = [&](GlobalIndex column) { return column >= first && column < first + count; };
  for (const MovedEntry& entry : arrived)
    if (!is_own(entry.column)) moved.halo_columns.push_back(entry.column);
  std::ranges::sort(moved.halo_columns);
  const auto repeated = std::ranges::unique(moved.halo_columns);
  moved.halo_columns.erase(repeated.begin(), repeated.end());
  spmv::CrsMatrix& to = moved.rows;
  to.row_count = static_cast<spmv::LocalIndex>(count);
  to.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(count) + 1);
  to.columns = perfmodel::HugePageBuffer<spmv::LocalIndex>(arrived.size());
  to.values = perfmodel::HugePageBuffer<double>(arrived.size());
  for (std::size_t k = 0; k < arrived.size(); ++k) {
    const auto& [row, column, value] = arrived[k];
    ++to.row_offsets[static_cast<std::size_t>(row - first) + 1];
    to.columns[k] = static_cast<spmv::LocalIndex>(
        is_own(column) ? column - first
                       : count + (std::ranges::lower_bound(moved.halo_columns, column) -
                                  moved.halo_columns.begin()));
    to.values[k] = value;
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row)
    to.row_offsets[row + 1] += to.row_offsets[row];
  return moved;
}

}  // namespace weft::solver::amg
