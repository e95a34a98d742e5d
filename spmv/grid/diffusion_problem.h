#pragma once

#include "spmv/grid/grid_box.h"
#include "spmv/problems/problem.h"

namespace weft::spmv {

/// A pollutant that spreads from a disc on the floor of the unit cube: ∇²u = 0 on a grid, u given
/// on the boundary, 0 but on the disc (x−½)²+(y−½)² ≤ ¼ of the plane z = 0, where it is
/// exp(−(x−½)²−(y−½)²).
///
/// In matrix form A·u = b with A = poisson3d and b the boundary values carried over.
/// Source: Bethune et al. 2012, section 3.
struct DiffusionProblem {
  GridSize grid;
  /// Added to all boundary values and to the start, so that no value is exactly 0.
  double lift = 0;

  /// The given value at a point outside of the grid, by global coordinates from 0.
  double boundary_value(GlobalIndex x, GlobalIndex y, GlobalIndex z) const;

  double start_value() const { return lift; }

  /// Σ b_i² of the problem without the lift, over the points of `box`, in the order of the points.
  double source_square(const GridBox& box) const;
};

}  // namespace weft::spmv
