#pragma once

#include <cstddef>

#include "library/include/weft/weft.hpp"
#include "spmv/rows/partition.h"

namespace weft::library {

/// What may be wrong with a rank's rows in two blocks. Each check throws comm_thread::InputError.
/// Lifetime: what it is made of outlives it.
template <class Index>
class DividedRowsCheck {
 public:
  DividedRowsCheck(const DividedRows<Index>& rows, const spmv::RowPartition& given, int rank)
      : rows_(rows), given_(given), rank_(rank) {}

  /// The sizes of the blocks, and their offsets.
  void check_shape() const;
  void check_columns_of_others() const;
  /// Columns and values of rows first … last - 1 of this rank. Slow.
  void check_entries(std::size_t first, std::size_t last) const;

 private:
  DividedRows<Index> rows_;
  const spmv::RowPartition& given_;
  int rank_;
};

extern template class DividedRowsCheck<std::int32_t>;
extern template class DividedRowsCheck<std::int64_t>;

}  // namespace weft::library
