#include "spmv/rows/thread_rows.h"

#include <algorithm>

namespace weft::spmv {
namespace {

/// An iteration of CG moves 12 bytes per nonzero and about 88 per row.
constexpr std::int64_t nonzeros_worth_a_row = 7;

}  // namespace

std::vector<LocalIndex> cut_rows_for_threads(std::span<const std::int64_t> row_offsets,
                                             GlobalIndex block_size, int thread_count) {
  const auto row_count = static_cast<std::int64_t>(row_offsets.size()) - 1;
  const auto cost_before = [&](std::int64_t row) {
    return row_offsets[static_cast<std::size_t>(row)] + nonzeros_worth_a_row * row;
  };
  std::vector<LocalIndex> cuts{0};
  for (int thread = 1; thread < thread_count; ++thread) {
    const std::int64_t wanted = cost_before(row_count) / thread_count * thread;
    std::int64_t low = 0;
    std::int64_t high = row_count / block_size;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (cost_before(middle * block_size) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    cuts.push_back(std::max(cuts.back(), static_cast<LocalIndex>(low * block_size)));
  }
  cuts.push_back(static_cast<LocalIndex>(row_count));
  return cuts;
}

}  // namespace weft::spmv
