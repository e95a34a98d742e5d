#pragma once

#include <span>

#include "solver/tiles/robin_box.h"

namespace weft::solver {

/// Solves systems with the matrix of one RobinBox, again and again.
class BoxSolver {
 public:
  virtual ~BoxSolver() = default;

  /// The solution for `right_hand_side`, taken to be 0 outside of `given`. It is valid on `wanted`
  /// until the next call by the same thread; the right-hand side may be overwritten.
  /// Shape: both [height × width]. `thread`: the index of the calling thread; threads may call at
  /// the same time. Allocates at the first call of a thread only.
  virtual std::span<const double> solve(int thread, std::span<double> right_hand_side,
                                        const BoxFrame& given, const BoxFrame& wanted) = 0;

  /// True if it takes much less time when no more is wanted.
  virtual bool gains_by(const BoxFrame& wanted) const = 0;
};

}  // namespace weft::solver
