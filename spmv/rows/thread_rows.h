#pragma once

#include <span>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Cuts this rank's rows into one contiguous range per compute thread, with about equal memory
/// traffic (nonzeros, plus a constant per row for the vectors), between row blocks only.
///
/// The same cut decides who first touches a page of a large array and who later works on it.
/// `row_offsets`: [row_count + 1]. Returns [thread_count + 1] row numbers.
std::vector<LocalIndex> cut_rows_for_threads(std::span<const std::int64_t> row_offsets,
                                             GlobalIndex block_size, int thread_count);

}  // namespace weft::spmv
