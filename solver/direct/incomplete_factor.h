#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "solver/direct/factor.h"
#include "solver/direct/local_matrix.h"

namespace weft::solver {

/// ILU(0): L·U ≈ A with the pattern of A, in the order of its rows.
///
/// Of a symmetric matrix L·U is symmetric, and positive definite where no pivot is negative. Bytes
/// a solve: 12 per nonzero of A. One thread at a time.
/// Source: Meijerink and van der Vorst 1977, "An iterative solution method for linear systems of
/// which the coefficient matrix is a symmetric M-matrix".
class IncompleteFactor final : public Factor {
 public:
  /// Tells the fault of a row: `entry` of A on the diagonal, 0 where there is none, and the `pivot`
  /// that elimination leaves of it.
  using Fault = std::function<std::string(int row, double entry, double pivot)>;

  /// Throws comm_thread::InputError with the text of `fault` at the first row whose pivot is zero,
  /// or not above rounding beside the entry of A, or has no finite inverse. Rows and columns may
  /// differ in scale.
  IncompleteFactor(LocalMatrix matrix, const Fault& fault);

  std::span<const double> solve(int thread, std::span<double> right_hand_side) override;
  bool is_definite() const override { return is_definite_; }

 private:
  bool eliminate(int row, double entry, std::vector<int>& place_of_column);
  double diagonal_entry(int row) const;

  LocalMatrix factors_;  // L without its diagonal of ones, and U
  std::vector<int> diagonal_;  // places
  std::vector<double> inverse_pivots_;
  std::vector<double> solution_;
  bool is_definite_ = true;
};

}  // namespace weft::solver
