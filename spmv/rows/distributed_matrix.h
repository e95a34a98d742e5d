#pragma once

#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Rows in compressed row storage. Every row is in ascending order of *global* column.
///
/// `columns` are local: c < row_count is the own row c, c >= row_count is halo entry c - row_count.
template <class Value>
struct CrsMatrixOf {
  LocalIndex row_count = 0;
  perfmodel::HugePageBuffer<std::int64_t> row_offsets;  // [row_count + 1]
  perfmodel::HugePageBuffer<LocalIndex> columns;  // [nonzero_count]
  perfmodel::HugePageBuffer<Value> values;  // [nonzero_count]

  std::int64_t nonzero_count() const {
    return row_offsets.size() ? row_offsets[row_offsets.size() - 1] : 0;
  }
};

using CrsMatrix = CrsMatrixOf<double>;

/// The rows of a square matrix that this rank owns, and which columns they need from others.
///
///     rank 1 of 2 of a 6×6 matrix        columns 0 1 2 | 3 4 5
///     row 3                                      a     | b c      halo_columns = {2}
///     row 4                                            | d e f    local columns: 3 4 5 → 0 1 2
///     row 5                                            |   g h                   2 → 3
struct DistributedMatrix {
  RowPartition partition;
  int rank = 0;
  CrsMatrix rows;
  std::vector<GlobalIndex> halo_columns;  // ascending
  std::int64_t global_nonzero_count = 0;

  GlobalIndex first_row() const { return partition.begin(rank); }
  GlobalIndex global_column(LocalIndex column) const {
    return column < rows.row_count
               ? first_row() + column
               : halo_columns[static_cast<std::size_t>(column - rows.row_count)];
  }
  /// Calls visit(row, column, value) for the entries of this rank.
  template <class Visit>
  void for_each_entry(const Visit& visit) const {
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows.row_count); ++row)
      for (auto k = static_cast<std::size_t>(rows.row_offsets[row]);
           k < static_cast<std::size_t>(rows.row_offsets[row + 1]); ++k)
        visit(first_row() + static_cast<GlobalIndex>(row), global_column(rows.columns[k]),
              rows.values[k]);
  }
};

}  // namespace weft::spmv
