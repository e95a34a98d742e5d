#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// Puts columns in ascending order, each once.
inline void sort_columns(std::vector<GlobalIndex>& columns) {
  std::ranges::sort(columns);
  const auto rest = std::ranges::unique(columns);
  columns.erase(rest.begin(), rest.end());
}

/// The place of `column` in a halo, which is ascending; at its end if it is not there.
inline LocalIndex halo_place(std::span<const GlobalIndex> halo_columns, GlobalIndex column) {
  const auto found = std::ranges::lower_bound(halo_columns, column);
  return static_cast<LocalIndex>(
      (found == halo_columns.end() || *found == column ? found : halo_columns.end()) -
      halo_columns.begin());
}

/// Throws comm_thread::InputError where rows and halo of `rank` have no local numbers.
inline void expect_few_columns(int rank, std::int64_t row_count, std::int64_t halo_count) {
  if (halo_count >= std::numeric_limits<LocalIndex>::max() - row_count)
    throw comm_thread::InputError("rank " + std::to_string(rank) +
                                  " would hold 2147483648 or more entries of x; use more ranks");
}

}  // namespace weft::spmv
