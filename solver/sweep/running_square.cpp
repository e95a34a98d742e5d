#include "solver/sweep/running_square.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace weft::solver {
namespace {

constexpr std::int64_t units_of_threshold = std::int64_t{1} << 20;

}  // namespace

RunningSquare::RunningSquare(int thread_count, double threshold)
    : unit_(std::max(threshold / static_cast<double>(units_of_threshold),
                     std::numeric_limits<double>::min())),
      largest_part_((std::int64_t{1} << 62) / thread_count),
      parts_(static_cast<std::size_t>(thread_count)) {}

std::int64_t RunningSquare::units(double square) const {
  const double count = std::ceil(square / unit_);
  // Also where `count` is not a number.
  if (!(count < static_cast<double>(largest_part_))) return largest_part_;
  return static_cast<std::int64_t>(count);
}

bool RunningSquare::contribute(int thread, double square) {
  std::int64_t& part = parts_[static_cast<std::size_t>(thread)].units;
  const std::int64_t before = std::exchange(part, units(square));
  const std::int64_t change = part - before;
  return sum_.fetch_add(change, std::memory_order_relaxed) + change < units_of_threshold;
}

}  // namespace weft::solver
