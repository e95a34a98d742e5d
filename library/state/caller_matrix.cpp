#include "library/state/caller_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace weft::library {

void CallerMatrix::check_extent(std::int64_t first_row, std::size_t offset_count) const {
  const spmv::GlobalIndex begin = given().begin(transfer_.rank());
  constexpr std::int64_t most = std::numeric_limits<spmv::LocalIndex>::max();
  if (offset_count == 0) fault("found no offsets; expected one more than there are rows");
  if (first_row != begin)
    fault("found first_row {}; expected {}, the rows of the ranks before", first_row, begin);
  if (const auto rows = static_cast<std::int64_t>(offset_count) - 1; rows > most)
    fault("found {} rows; expected at most {}", rows, most);
}

bool CallerMatrix::are_finite(std::span<const double> values) const {
  std::vector<char> is_finite(static_cast<std::size_t>(team_.thread_count()), 1);
  team_.run([&](const comm_thread::TeamThread& thread) {
    const auto share = comm_thread::share_of(std::ssize(values), thread.index, thread.count);
    bool all = true;
    for (auto k = static_cast<std::size_t>(share.begin); k < static_cast<std::size_t>(share.end);
         ++k)
      all &= std::abs(values[k]) <= std::numeric_limits<double>::max();
    is_finite[static_cast<std::size_t>(thread.index)] = all ? 1 : 0;
  });
  return std::ranges::find(is_finite, 0) == is_finite.end();
}

spmv::DistributedMatrix CallerMatrix::without_rows() const {
  return {.partition = transfer_.moved(),
          .rank = transfer_.rank(),
          .rows = {},
          .halo_columns = {},
          .global_nonzero_count = 0};
}

}  // namespace weft::library
