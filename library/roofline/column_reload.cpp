#include "library/roofline/column_reload.h"

#include <algorithm>
#include <vector>

#include "perfmodel/cache_simulation.h"

namespace weft::library {
namespace {

using perfmodel::CacheSimulation;
using spmv::CrsMatrix;
using spmv::LocalIndex;

constexpr std::int64_t longest_sample = 8'000'000;
constexpr std::size_t doubles_per_line = CacheSimulation::line_bytes / sizeof(double);
/// An address that nothing else has; y itself is not needed.
constexpr std::uint64_t lines_of_y = std::uint64_t{1} << 52;

}  // namespace

double simulate_column_reload(const CrsMatrix& rows, LocalIndex begin, LocalIndex end,
                              const double* x, std::size_t cache_bytes, int width) {
  const std::int64_t* const offsets = rows.row_offsets.data();
  if (begin >= end || offsets[begin] == offsets[end]) return 0;
  const std::int64_t all = offsets[end] - offsets[begin];
  const std::int64_t spare = std::max<std::int64_t>(0, all - longest_sample) / 2;
  const auto row_of = [&](std::int64_t nonzero) {
    return static_cast<LocalIndex>(std::upper_bound(offsets + begin, offsets + end, nonzero) -
                                   offsets - 1);
  };
  const LocalIndex first = row_of(offsets[begin] + spare);
  const LocalIndex last = row_of(offsets[end] - 1 - spare) + 1;

  CacheSimulation cache(cache_bytes);
  const LocalIndex* const columns = rows.columns.data();
  LocalIndex most = 0;
  for (std::int64_t k = offsets[first]; k < offsets[last]; ++k) most = std::max(most, columns[k]);
  const auto step = static_cast<std::size_t>(width);
  std::vector<bool> is_known((static_cast<std::size_t>(most) + 1) * step / doubles_per_line + 2);
  std::int64_t reloads = 0;
  for (LocalIndex row = first; row < last; ++row) {
    cache.loads(offsets + row);
    const auto first_of_y = static_cast<std::uint64_t>(row) * step;
    for (std::uint64_t i = 0; i < step; i += doubles_per_line)
      cache.loads_line(lines_of_y + (first_of_y + i) / doubles_per_line);
    for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
      cache.loads(rows.values.data() + k);
      cache.loads(columns + k);
      const std::size_t first_of_x = static_cast<std::size_t>(columns[k]) * step;
      for (std::size_t i = 0; i < step; i += doubles_per_line) {
        const std::size_t line = (first_of_x + i) / doubles_per_line;
        if (cache.loads(x + first_of_x + i) && is_known[line]) ++reloads;
        is_known[line] = true;
      }
    }
  }
  return static_cast<double>(reloads * static_cast<std::int64_t>(CacheSimulation::line_bytes)) /
         static_cast<double>(offsets[last] - offsets[first]);
}

}  // namespace weft::library
