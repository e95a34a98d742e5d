#pragma once

#include <array>

#include "spmv/problems/problem.h"

namespace weft::spmv {

/// Matrix of a grid problem as numbers: a weight for a point, minus weights for its neighbours;
/// values beyond the grid (Dirichlet) are 0.
struct GridStencil {
  /// Throws comm_thread::InputError where `problem` is no grid problem.
  static GridStencil of(const Problem& problem);

  GridSize grid;
  double centre = 6;
  std::array<double, 3> weights{1, 1, 1};  // of the neighbours in x, y, z
  bool has_corners = false;  // 27 points; all weights are 1

  /// The same where x and direction `d` have changed places.
  GridStencil with_x_exchanged(std::size_t d) const;

  int point_count() const { return has_corners ? 27 : weights[2] == 0 ? 5 : 7; }
  /// Number of rows of the matrix.
  std::int64_t row_count() const { return grid.x * grid.y * grid.z; }
  std::int64_t nonzero_count() const;
  /// ‖A‖∞ or a little more.
  double norm() const;
  bool has_unit_weights() const {
    return weights[0] == 1 && weights[1] == 1 && (weights[2] == 1 || weights[2] == 0);
  }
};

}  // namespace weft::spmv
