#include "spmv/matrix/row_strips.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace weft::spmv {
namespace {

/// Rows that are asked how far they reach, at most.
constexpr LocalIndex sample_count = 1024;
/// Rows: three planes of fewer stay in a thread's part of the last cache.
constexpr LocalIndex smallest_plane = 4 * RowStrips::strip_rows;

/// Distance between `row` and its own column that is farthest from it.
LocalIndex reach(const CrsMatrix& rows, LocalIndex row) {
  LocalIndex farthest = 0;
  for (auto k = rows.row_offsets[static_cast<std::size_t>(row)];
       k < rows.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
    const LocalIndex column = rows.columns[static_cast<std::size_t>(k)];
    if (column < rows.row_count) farthest = std::max(farthest, std::abs(column - row));
  }
  return farthest;
}

/// Distance that more than half of the rows reach; 0 if no distance is that frequent.
LocalIndex common_reach(const CrsMatrix& rows, LocalIndex begin, LocalIndex end) {
  std::vector<LocalIndex> reaches;
  const LocalIndex step = (end - begin) / sample_count + 1;
  for (LocalIndex row = begin; row < end; row += step) reaches.push_back(reach(rows, row));
  if (reaches.empty()) return 0;
  const auto middle = reaches.begin() + std::ssize(reaches) / 2;
  std::ranges::nth_element(reaches, middle);
  return 2 * std::ranges::count(reaches, *middle) > std::ssize(reaches) ? *middle : 0;
}

}  // namespace

RowStrips::RowStrips(const CrsMatrix& rows, LocalIndex begin, LocalIndex end)
    : plane_(common_reach(rows, begin, end)) {
  if (plane_ < smallest_plane) plane_ = 0;
}

}  // namespace weft::spmv
