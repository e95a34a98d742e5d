#include "solver/amg/coarsening/moved_rows.h"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/matrix/assembly.h"
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

spmv::DistributedMatrix collective_move_rows(Crew& crew, const spmv::DistributedMatrix& matrix,
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
  std::vector<std::vector<MovedEntry>> arrived;
  for (const auto& [source, bytes] :
       comm_thread::collective_sparse_exchange(crew.communicator(), std::move(messages)))
    arrived.push_back(comm_thread::from_bytes<MovedEntry>(bytes));
  spmv::MatrixAssembly assembly(partition, matrix.rank);
  const auto for_entries = [&](const auto& visit) {
    for (const std::vector<MovedEntry>& entries : arrived)
      for (const MovedEntry& entry : entries) visit(entry);
  };
  for_entries([&](const MovedEntry& entry) { assembly.count(entry.row, entry.column); });
  assembly.allocate(crew.team());
  for_entries(
      [&](const MovedEntry& entry) { assembly.insert(entry.row, entry.column, entry.value); });
  return std::move(assembly).collective_finish(crew.communicator(), crew.team());
}

}  // namespace weft::solver::amg
