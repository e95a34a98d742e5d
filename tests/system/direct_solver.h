#pragma once

#include <cholmod.h>

#include <span>
#include <vector>

#include "tests/system/reference_matrix.h"

namespace weft::tests {

/// CHOLMOD's sparse Cholesky factors of a symmetric positive definite matrix: solutions to compare
/// with.
class DirectSolver {
 public:
  /// Reads the lower triangle of `matrix`.
  explicit DirectSolver(const MatrixFile& matrix);
  ~DirectSolver();
  DirectSolver(const DirectSolver&) = delete;
  DirectSolver& operator=(const DirectSolver&) = delete;

  bool is_positive_definite() const;

  /// A⁻¹·b.
  std::vector<double> solve(std::span<const double> b);

  /// ‖A⁻¹‖₂ = 1 / smallest eigenvalue, by inverse iteration: a few percent too small at most.
  double norm_of_inverse();

 private:
  std::size_t row_count_;
  cholmod_common common_{};
  cholmod_factor* factor_ = nullptr;
};

/// ‖A‖∞, which is at least the largest eigenvalue of a symmetric matrix.
double norm_bound(const MatrixFile& matrix);

}  // namespace weft::tests
