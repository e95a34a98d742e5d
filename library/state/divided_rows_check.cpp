#include "library/state/divided_rows_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "library/state/row_transfer.h"

namespace weft::library {

template <class Index>
void DividedRowsCheck<Index>::check_shape() const {
  for (const auto* const block : {&rows_.own, &rows_.others}) {
    const char* const name = block == &rows_.own ? "own" : "others";
    const auto& offsets = block->offsets;
    const std::int64_t last = offsets.empty() ? 0 : offsets.back();
    if (!offsets.empty() && (offsets.size() != rows_.own.offsets.size() || offsets.front() != 0 ||
                             !std::ranges::is_sorted(offsets)))
      fault_of_rows(rank_,
                    "found other offsets of block {}; expected {} ascending "
                    "ones from 0",
                    name, rows_.own.offsets.size());
    if (std::ssize(block->columns) != last || std::ssize(block->values) != last)
      fault_of_rows(rank_,
                    "found {} columns and {} values of block {}; expected {} of "
                    "each, the last offset",
                    block->columns.size(), block->values.size(), name, last);
  }
}

template <class Index>
void DividedRowsCheck<Index>::check_columns_of_others() const {
  spmv::GlobalIndex before = -1;
  for (const spmv::GlobalIndex column : rows_.columns_of_others) {
    if (column <= before || column >= given_.row_count() ||
        (column >= given_.begin(rank_) && column < given_.end(rank_)))
      fault_of_rows(rank_,
                    "found {} after {} in columns_of_others; expected ascending "
                    "columns of other ranks, below {}",
                    column, before, given_.row_count());
    before = column;
  }
}

template <class Index>
void DividedRowsCheck<Index>::check_entries(std::size_t first, std::size_t last) const {
  for (const auto* const block : {&rows_.own, &rows_.others}) {
    const char* const name = block == &rows_.own ? "own" : "others";
    const std::int64_t limit =
        block == &rows_.own ? given_.size(rank_) : std::ssize(rows_.columns_of_others);
    if (block->offsets.empty()) continue;
    for (std::size_t row = first; row < last; ++row) {
      std::int64_t before = -1;
      for (auto k = static_cast<std::size_t>(block->offsets[row]);
           k < static_cast<std::size_t>(block->offsets[row + 1]); ++k) {
        const std::int64_t column = block->columns[k];
        if (column <= before || column >= limit)
          fault_of_rows(rank_, "found {}.columns[{}] = {}; expected 0 to {}, ascending in each row",
                        name, k, column, limit - 1);
        if (!std::isfinite(block->values[k]))
          fault_of_rows(rank_, "found {}.values[{}] = {}; expected a finite number", name, k,
                        block->values[k]);
        before = column;
      }
    }
  }
}

template class DividedRowsCheck<std::int32_t>;
template class DividedRowsCheck<std::int64_t>;

}  // namespace weft::library
