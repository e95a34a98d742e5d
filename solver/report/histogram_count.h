#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "solver/report/iteration_report.h"

namespace weft::solver {

/// Counts `value`, rounded as Histogram says.
inline void count(Histogram& histogram, std::int64_t value) {
  constexpr int kept_digits = 8;
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
  const int dropped = std::max(0, static_cast<int>(std::bit_width(magnitude)) - kept_digits);
  const auto rounded = static_cast<std::int64_t>(magnitude >> dropped << dropped);
  ++histogram[value < 0 ? -rounded : rounded];
}

}  // namespace weft::solver
