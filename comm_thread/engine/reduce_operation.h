#pragma once

#include <algorithm>

namespace weft::comm_thread {

/// How the contributions of two ranks become one.
enum class ReduceOperation { sum, min, max };

/// A NaN on either side is passed on, also by `min` and `max`: no failed rank is overlooked.
inline double combine(ReduceOperation operation, double a, double b) {
  if (operation == ReduceOperation::sum || a != a || b != b) return a + b;
  return operation == ReduceOperation::min ? std::min(a, b) : std::max(a, b);
}

}  // namespace weft::comm_thread
