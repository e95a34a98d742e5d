#include "solver/amg/coarsening/moved_rows.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/halo_columns.h"
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
  comm_thread::Lists<MovedEntry> leaving;
  const spmv::CrsMatrix& rows = matrix.rows;
  for (spmv::LocalIndex row = 0; row < rows.row_count; ++row) {
    const GlobalIndex global = matrix.first_row() + row;
    std::vector<MovedEntry>& entries = leaving[partition.owner(global)];
    const auto i = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(rows.row_offsets[i]);
         k < static_cast<std::size_t>(rows.row_offsets[i + 1]); ++k)
      entries.push_back({global, matrix.global_column(rows.columns[k]), rows.values[k]});
  }
  // Ascending ranks, and each sends its rows in order: all entries are in order.
  const std::vector<MovedEntry> arrived =
      comm_thread::collective_exchange_joined(crew.communicator(), std::move(leaving));
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
  spmv::sort_columns(moved.halo_columns);
  spmv::CrsMatrix& to = moved.rows;
  to.row_count = static_cast<spmv::LocalIndex>(count);
  to.row_offsets = perfmodel::HugePageBuffer<std::int64_t>(static_cast<std::size_t>(count) + 1);
  to.columns = perfmodel::HugePageBuffer<spmv::LocalIndex>(arrived.size());
  to.values = perfmodel::HugePageBuffer<double>(arrived.size());
  for (std::size_t k = 0; k < arrived.size(); ++k) {
    const auto& [row, column, value] = arrived[k];
    ++to.row_offsets[static_cast<std::size_t>(row - first) + 1];
    to.columns[k] = static_cast<spmv::LocalIndex>(
        is_own(column) ? column - first : count + spmv::halo_place(moved.halo_columns, column));
    to.values[k] = value;
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row)
    to.row_offsets[row + 1] += to.row_offsets[row];
  return moved;
}

}  // namespace weft::solver::amg
