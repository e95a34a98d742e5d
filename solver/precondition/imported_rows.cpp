#include "solver/precondition/imported_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "comm_thread/mpi/sparse_exchange.h"
#include "spmv/rows/ask_owners.h"

namespace weft::solver {
namespace {

using spmv::DistributedMatrix;
using spmv::GlobalIndex;

/// A row, and the number of the piece whose core has it.
struct CoreOfRow {
  GlobalIndex row;
  int piece;
};

struct Entry {
  GlobalIndex row;
  GlobalIndex column;
  double value;
};

/// Own rows, and those that were fetched.
class KnownRows {
 public:
  explicit KnownRows(const DistributedMatrix& matrix) : matrix_(matrix) {}

  /// Calls work(column, value) for the entries of a row.
  template <class Work>
  void for_each_entry(GlobalIndex row, const Work& work) const {
    if (is_own(row)) {
      const auto local = static_cast<std::size_t>(row - matrix_.first_row());
      for (auto i = matrix_.rows.row_offsets[local]; i < matrix_.rows.row_offsets[local + 1]; ++i)
        work(matrix_.global_column(matrix_.rows.columns[static_cast<std::size_t>(i)]),
             matrix_.rows.values[static_cast<std::size_t>(i)]);
      return;
    }
    for (const auto& [column, value] : fetched_.at(row)) work(column, value);
  }

  void collective_fetch(const comm_thread::Communicator& communicator,
                        const std::vector<OverlappingRows>& pieces) {
    std::vector<GlobalIndex> wanted;
    for (const OverlappingRows& piece : pieces)
      for (const GlobalIndex row : piece.rows)
        if (!is_own(row) && fetched_.try_emplace(row).second) wanted.push_back(row);
    spmv::collective_ask_owners<Entry>(
        communicator, matrix_.partition, wanted,
        [&](GlobalIndex row, std::vector<Entry>& entries) {
          for_each_entry(row, [&](GlobalIndex column, double value) {
            entries.push_back({row, column, value});
          });
        },
        [&](const Entry& entry) { fetched_[entry.row].emplace_back(entry.column, entry.value); });
  }

 private:
  bool is_own(GlobalIndex row) const {
    return row >= matrix_.first_row() && row < matrix_.first_row() + matrix_.rows.row_count;
  }

  const DistributedMatrix& matrix_;
  std::unordered_map<GlobalIndex, std::vector<std::pair<GlobalIndex, double>>> fetched_;
};

void add_layer(const KnownRows& known, std::vector<GlobalIndex>& rows) {
  std::vector<GlobalIndex> larger = rows;
  for (const GlobalIndex row : rows)
    known.for_each_entry(row, [&](GlobalIndex column, double) { larger.push_back(column); });
  std::ranges::sort(larger);
  larger.erase(std::unique(larger.begin(), larger.end()), larger.end());
  rows = std::move(larger);
}

bool has(const std::vector<GlobalIndex>& rows, GlobalIndex row) {
  return std::ranges::binary_search(rows, row);
}

/// The core that every row at the edge of a piece belongs to, and every row outside that it is
/// coupled to. Every row is in one core; its owner tells, after the rank of the core told him.
std::unordered_map<GlobalIndex, int> collective_find_cores(
    const comm_thread::Communicator& communicator, const DistributedMatrix& matrix,
    const KnownRows& known, const std::vector<OverlappingRows>& pieces) {
  comm_thread::Lists<CoreOfRow> told;
  for (const OverlappingRows& piece : pieces)
    for (const GlobalIndex row : piece.core)
      told[matrix.partition.owner(row)].push_back({row, piece.number});
  std::vector<int> core_of_own(static_cast<std::size_t>(matrix.rows.row_count));
  for (const auto& [rank, list] :
       comm_thread::collective_sparse_exchange(communicator, std::move(told)))
    for (const CoreOfRow& core : list)
      core_of_own[static_cast<std::size_t>(core.row - matrix.first_row())] = core.piece;

  std::unordered_map<GlobalIndex, int> cores;
  std::vector<GlobalIndex> wanted;
  const auto want = [&](GlobalIndex row) {
    if (cores.try_emplace(row).second) wanted.push_back(row);
  };
  for (const OverlappingRows& piece : pieces)
    for (const GlobalIndex row : piece.rows)
      known.for_each_entry(row, [&](GlobalIndex column, double) {
        if (has(piece.rows, column)) return;
        want(row);
        want(column);
      });
  spmv::collective_ask_owners<CoreOfRow>(
      communicator, matrix.partition, wanted,
      [&](GlobalIndex row, std::vector<CoreOfRow>& list) {
        list.push_back({row, core_of_own[static_cast<std::size_t>(row - matrix.first_row())]});
      },
      [&](const CoreOfRow& core) { cores[core.row] = core.piece; });
  return cores;
}

LocalMatrix matrix_of(const KnownRows& known, const std::unordered_map<GlobalIndex, int>& cores,
                      OverlappingRows& piece) {
  const std::vector<GlobalIndex>& rows = piece.rows;
  LocalMatrix matrix;
  piece.cut.assign(rows.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    known.for_each_entry(rows[i], [&](GlobalIndex column, double value) {
      const auto found = std::ranges::lower_bound(rows, column);
      const bool is_inside = found != rows.end() && *found == column;
      if (!is_inside && cores.at(rows[i]) == cores.at(column)) piece.cut[i] += std::abs(value);
      if (!is_inside) return;
      matrix.columns.push_back(static_cast<int>(found - rows.begin()));
      matrix.values.push_back(value);
    });
    matrix.row_begin.push_back(static_cast<int>(matrix.columns.size()));
  }
  return matrix;
}

WholeRows whole_rows(const KnownRows& known, const std::vector<GlobalIndex>& rows) {
  WholeRows whole;
  for (const GlobalIndex row : rows) {
    known.for_each_entry(row, [&](GlobalIndex column, double value) {
      whole.columns.push_back(column);
      whole.values.push_back(value);
    });
    whole.row_begin.push_back(whole.columns.size());
  }
  return whole;
}

}  // namespace

std::vector<LocalMatrix> collective_import_rows(const comm_thread::Communicator& communicator,
                                                const DistributedMatrix& matrix, int overlap,
                                                std::vector<OverlappingRows>& pieces,
                                                std::vector<WholeRows>* whole) {
  KnownRows known(matrix);
  for (OverlappingRows& piece : pieces) piece.rows = piece.core;
  known.collective_fetch(communicator, pieces);
  for (int layer = 0; layer < overlap; ++layer) {
    for (OverlappingRows& piece : pieces) add_layer(known, piece.rows);
    known.collective_fetch(communicator, pieces);
  }
  std::vector<LocalMatrix> matrices;
  const auto cores = collective_find_cores(communicator, matrix, known, pieces);
  for (OverlappingRows& piece : pieces) matrices.push_back(matrix_of(known, cores, piece));
  for (std::size_t i = 0; whole && i < pieces.size(); ++i)
    whole->push_back(whole_rows(known, pieces[i].rows));
  return matrices;
}

}  // namespace weft::solver
