#pragma once

#include <cstdint>

#include "solver/direct/small_matrix.h"
#include "solver/panels/block_basis.h"

namespace weft::solver {

/// How the columns of a panel become orthonormal, by the Gram matrix G = D⁻¹·U·Λ·Uᵀ·D⁻¹ of them.
struct Orthonormalised {
  SmallMatrix factor;  // D·U·Λ^−½; columns of directions that vanish are zero
  SmallMatrix inverse;  // Λ^½·Uᵀ·D⁻¹; rows of these are zero
  double smallest = 0;  // of Λ
  int dropped = 0;  // the first columns
};

/// `least`: directions vanish below that part of the largest.
Orthonormalised orthonormalising(const SmallMatrix& gram, double least);

/// Makes the vectors of a panel `y` orthonormal to the first `count` panels and to each other.
/// Directions that vanish become random ones, of numbers from `random_columns` on, which it counts
/// up. `is_rough`: they may still have parts along those before. There are so many other vectors.
/// Returns the matrix by which the new panel becomes the old one, but for parts along those before.
/// Collective. Thread: the main thread, outside the team.
SmallMatrix collective_orthonormalise(BlockBasis& basis, int count, double* y, bool is_rough,
                                      std::int64_t& random_columns);

}  // namespace weft::solver
