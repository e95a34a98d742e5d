#pragma once

#include <span>
#include <vector>

#include "solver/direct/small_matrix.h"
#include "solver/eigen/eigen_report.h"

namespace weft::solver {

/// The lowest or highest Ritz vectors in a basis S, and what they have beside some of it.
struct Projection {
  std::vector<double> values;
  SmallMatrix vectors;  // coefficients of the Ritz vectors, [columns of S, block]
  SmallMatrix directions;  // orthonormal to these, [columns of S, columns of W]
};

/// Solves the projected problem SᵀAS·y = θ·SᵀBS·y. `rows_of_w`: the first that is not one of X's
/// coefficients. `columns`: of the Ritz vectors whose directions are wanted.
Projection project(const SmallMatrix& of_a, const SmallMatrix& of_b, SpectrumEnd end, int block,
                   int rows_of_w, std::span<const int> columns);

}  // namespace weft::solver
