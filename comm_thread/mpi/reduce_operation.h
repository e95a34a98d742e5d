#pragma once

#include <algorithm>

namespace weft::comm_thread {

/// Operation that combines the contributions of two ranks.
enum class ReduceOperation { sum, min, max };

/// Combines two values; a NaN on either side is the result, also with `min` and `max`, so no failed
/// rank is overlooked.
inline double combine(ReduceOperation operation, double a, double b) {
  if (operation == ReduceOperation::sum || a != a || b != b) return a + b;
  return operation == ReduceOperation::min ? std::min(a, b) : std::max(a, b);
}

}  // namespace weft::comm_thread
