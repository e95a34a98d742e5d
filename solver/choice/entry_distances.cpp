#include "solver/choice/entry_distances.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weft::solver {

using spmv::GlobalIndex;

std::optional<spmv::GridSize> EntryDistances::collective_grid(
    const comm_thread::Communicator& communicator, GlobalIndex row_count) const {
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  const auto least_above = [&](GlobalIndex bound) {
    GlobalIndex least = none;
    for (std::size_t i = 0; i < count_; ++i)
      if (found_[i] > bound) least = std::min(least, found_[i]);
    return communicator.min(least);
  };
  if (communicator.max(std::int64_t{has_more_}) > 0) return std::nullopt;
  const GlobalIndex first = least_above(0);
  const GlobalIndex x = least_above(first);
  const GlobalIndex plane = least_above(x);
  const GlobalIndex fourth = least_above(plane);
  if (fourth != none || first != 1 || x == none || row_count % x != 0) return std::nullopt;
  if (plane == none) return spmv::GridSize{x, row_count / x, 1};
  if (plane % x != 0 || row_count % plane != 0) return std::nullopt;
  return spmv::GridSize{x, plane / x, row_count / plane};
}

}  // namespace weft::solver
