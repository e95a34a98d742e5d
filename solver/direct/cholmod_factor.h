#pragma once

#include <memory>
#include <span>
#include <string>

#include "solver/direct/factor.h"
#include "solver/direct/lower_triangle.h"

namespace weft::solver {

/// A sparse Cholesky factorization by CHOLMOD: factored once, then two triangular solves each time.
///
/// Simplicial L·Lᵀ: on 66×66 points of a grid 132 µs a solve; supernodal takes 319 µs with the BLAS
/// that Debian installs. Bytes a solve: 12 per nonzero of L, twice. Threads share the factor, which
/// no solve changes, and have a workspace each.
///
/// Builds without CHOLMOD, whose licence is not permissive, factor with Eigen instead
/// (cholmod_missing.cpp): the same interface and accuracy, other bits.
class CholmodFactor final : public Factor {
 public:
  /// `thread_count`: how many threads may solve at the same time. Throws comm_thread::InputError
  /// with the text `fault` where the matrix is not positive definite to working precision,
  /// FactorTooLarge where there is not enough memory.
  CholmodFactor(const LowerTriangle& matrix, int thread_count, const std::string& fault);
  ~CholmodFactor() override;
  CholmodFactor(const CholmodFactor&) = delete;
  CholmodFactor& operator=(const CholmodFactor&) = delete;

  /// Memory that the factor of `matrix` will take, and the least while it is computed, from a
  /// symbolic analysis. 0 where that is not known.
  static double forecast_bytes(const LowerTriangle& matrix);

  /// The solution for `right_hand_side`, valid until the next call by the same thread.
  /// Shape: both [size]. `thread`: below `thread_count`. Allocates at the first call of a thread
  /// only.
  std::span<const double> solve(int thread, std::span<double> right_hand_side) override;
  bool is_definite() const override { return true; }

  /// The library that factors, with its version: "CHOLMOD 3.0.14".
  static std::string library_version();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace weft::solver
