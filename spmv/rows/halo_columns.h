#pragma once

#include <algorithm>
#include <span>
#include <vector>

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

}  // namespace weft::spmv
