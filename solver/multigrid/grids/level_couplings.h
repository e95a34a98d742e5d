#pragma once

#include <array>

#include "solver/multigrid/grids/grid_array.h"

namespace weft::solver {

/// Couplings that vary from point to point, of one grid, as the passes read them: one array a
/// direction, at the own points and as far around them as passes go. In single precision 16 bytes a
/// point for the operator and 3.5 for the weights of interpolation; in double precision twice that.
template <class Value>
struct LevelCouplings {
  /// Of a point and the one before it in each direction.
  std::array<GridArray<Value>, 3> before;
  GridArray<Value> inverse_diagonal;
  /// As InterpolationWeights, one direction after the other: those in x belong to the points of
  /// this grid, those in y to every second of them in x, those in z to every fourth.
  /// Empty in directions that are not coarsened.
  std::array<GridArray<Value>, 3> weights;

  /// What a pass reads of them, in bytes per point.
  static constexpr double bytes = 4.875 * sizeof(Value);
};

}  // namespace weft::solver
