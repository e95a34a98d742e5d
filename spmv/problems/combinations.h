#pragma once

#include <limits>
#include <vector>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Number of combinations of k out of n; the largest index if there are more.
/// Work and memory: O(n·k) and O(k).
inline GlobalIndex binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  constexpr GlobalIndex most = std::numeric_limits<GlobalIndex>::max();
  std::vector<GlobalIndex> row(static_cast<std::size_t>(k) + 1);
  row[0] = 1;
  for (int line = 1; line <= n; ++line)
    for (std::size_t i = row.size() - 1; i > 0; --i)
      row[i] = row[i] > most - row[i - 1] ? most : row[i] + row[i - 1];
  return row.back();
}

}  // namespace weft::spmv
