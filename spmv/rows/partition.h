#pragma once

#include <span>
#include <utility>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Contiguous ranges of rows, one per rank, cut only between row blocks, unless by
/// given sizes.
///
///     6×6 example, block of 1 row, 2 ranks     rank 0: rows 0 1 2 | rank 1: rows 3 4 5
///
/// Row blocks are the unit in which dot products are summed, so their size depends on the size of
/// the matrix alone and never on ranks or threads (design decision: bits do not change with ranks).
class RowPartition {
 public:
  /// Rows per block: a power of two, 8 … 4096, so that there are 1024 blocks or more
  /// where that leaves 8 rows for each; 1 below
  /// 1024 rows.
  static GlobalIndex block_size(GlobalIndex row_count);
  static GlobalIndex block_count(GlobalIndex row_count);

  /// Equal numbers of rows, up to one block.
  static RowPartition by_rows(GlobalIndex row_count, int rank_count);

  /// Equal numbers of nonzeros, up to one block.
  /// `nonzeros_of_block`: [block_count], the same on every rank.
  static RowPartition by_nonzeros(GlobalIndex row_count, int rank_count,
                                  std::span<const GlobalIndex> nonzeros_of_block);

  /// `sizes`: how many rows each rank gets, wherever that cuts row blocks: sums over the rows of a
  /// rank then depend on the cut.
  static RowPartition by_sizes(std::span<const GlobalIndex> sizes);

  GlobalIndex row_count() const { return offsets_.back(); }
  int rank_count() const { return static_cast<int>(offsets_.size()) - 1; }
  GlobalIndex begin(int rank) const { return offsets_[static_cast<std::size_t>(rank)]; }
  GlobalIndex end(int rank) const { return offsets_[static_cast<std::size_t>(rank) + 1]; }
  GlobalIndex size(int rank) const { return end(rank) - begin(rank); }
  int owner(GlobalIndex row) const;

 private:
  explicit RowPartition(std::vector<GlobalIndex> offsets) : offsets_(std::move(offsets)) {}

  std::vector<GlobalIndex> offsets_;  // [rank_count + 1]
};

}  // namespace weft::spmv
