#pragma once

#include <memory>
#include <span>
#include <string>

#include "solver/direct/factor.h"
#include "solver/direct/local_matrix.h"

namespace weft::solver {

/// A sparse LU factorization with partial pivoting by KLU, for any nonsingular matrix.
///
/// KLU calls no BLAS, so that the bits depend neither on which BLAS is installed nor on its
/// threads. Bytes a solve: 12 per nonzero of L and U. One thread at a time.
///
/// Builds without SuiteSparse, whose licences are not permissive, factor with Eigen instead
/// (klu_missing.cpp): the same interface, other bits.
class KluFactor final : public Factor {
 public:
  /// Throws comm_thread::InputError with the text `fault` where the matrix is singular to working
  /// precision, FactorTooLarge where there is not enough memory.
  KluFactor(const LocalMatrix& matrix, const std::string& fault);
  ~KluFactor() override;

  std::span<const double> solve(int thread, std::span<double> right_hand_side) override;
  bool is_definite() const override { return false; }

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace weft::solver
