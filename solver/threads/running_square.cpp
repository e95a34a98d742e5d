#include "solver/threads/running_square.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace weft::solver {
namespace {

constexpr std::int64_t units_of_threshold = std::int64_t{1} << 20;

}  // namespace

RunningSquare::RunningSquare(comm_thread::Delivery delivery, int thread_count, double threshold)
    : delivery_(delivery),
      unit_(std::max(threshold / static_cast<double>(units_of_threshold),
                     std::numeric_limits<double>::min())),
      largest_part_((std::int64_t{1} << 62) / thread_count),
      parts_(static_cast<std::size_t>(thread_count)) {}

std::int64_t RunningSquare::units(double square) const {
  const double count = std::ceil(square / unit_);
  // Also where `count` is not a number.
  if (!(count < static_cast<double>(largest_part_))) return largest_part_;
  return static_cast<std::int64_t>(count);
}

/// Returns the sum after the addition.
std::int64_t RunningSquare::add(std::int64_t difference) {
  if (delivery_ == comm_thread::Delivery::racy)
    return sum_.fetch_add(difference, std::memory_order_relaxed) + difference;
  const std::scoped_lock lock(mutex_);
  const std::int64_t sum = sum_.load(std::memory_order_relaxed) + difference;
  sum_.store(sum, std::memory_order_relaxed);
  return sum;
}

bool RunningSquare::contribute(int thread, double square) {
  std::int64_t& part = parts_[static_cast<std::size_t>(thread)].units;
  const std::int64_t before = std::exchange(part, units(square));
  return add(part - before) < units_of_threshold;
}

}  // namespace weft::solver
