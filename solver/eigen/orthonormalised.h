#pragma once

#include "solver/direct/small_matrix.h"

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

}  // namespace weft::solver
