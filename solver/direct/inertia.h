#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/direct/lower_triangle.h"

namespace weft::solver {

/// How many eigenvalues of A + E lie on either side of a number, for some symmetric E with ‖E‖₂ <=
/// `error`: so at most `below` eigenvalues of A are less than it minus `error`, and at least as
/// many less than it plus `error`.
struct Inertia {
  std::int64_t below = 0;
  std::int64_t above = 0;
  double error = 0;  // a bound for the rounding of the factorization
};

/// Counts eigenvalues of a symmetric A, or of A·x = λ·B·x with a positive definite B, by the signs
/// of the pivots of A − σI = L·D·Lᵀ, or A − σB (Sylvester's law of inertia). There is no pivoting:
/// the rows are in an order that keeps L sparse, and what small pivots do to the rounding is
/// bounded afterwards by the entries of L and D, |E| <= γ·|L|·|D|·|Lᵀ| entry by entry. Where σ was
/// unlucky, `error` is large, and another σ helps.
///
/// Thread: one. Bytes: 12 per nonzero of L while it counts, 16 per entry of A always; with B 24 per
/// entry of both.
/// Source: Golub, Van Loan, "Matrix Computations", 4th edition, sections 4.1 and 8.4; Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 10.1; the row-by-row
/// factorization: Davis 2005, "Algorithm 849: a concise sparse Cholesky factorization package".
class InertiaCounter {
 public:
  /// Orders the rows by approximate minimum degree (Eigen's), and finds how large L will be, as far
  /// as that is within the limits, and not obviously beyond them. `most_flops`, `most_nonzeros`: of
  /// one factorization.
  InertiaCounter(const LowerTriangle& matrix, double most_flops, double most_nonzeros);
  /// With B, as large as A; `error` is then one of A − σB.
  InertiaCounter(const LowerTriangle& matrix, const LowerTriangle& mass, double most_flops,
                 double most_nonzeros);

  /// False if L would be larger than allowed: then nothing can be counted.
  bool fits() const { return fits_; }
  /// Of one factorization, where it fits: the squares of the columns of L, added up.
  double flops() const { return flops_; }
  double nonzeros() const { return nonzeros_; }
  /// Of the matrices and a factorization, where it fits.
  double bytes() const;

  /// None where a pivot vanishes or overflows.
  std::optional<Inertia> count(double sigma) const;

 private:
  struct Factor;

  template <class Work>
  static void visit(const LowerTriangle& matrix, const LowerTriangle& mass, const Work& work);
  void order(const LowerTriangle& matrix, const LowerTriangle& mass);
  void find_sizes(const LowerTriangle& matrix, const LowerTriangle& mass);
  void find_tree(double most_flops, double most_nonzeros);
  bool factor_row(std::size_t row, double sigma, Factor& factor) const;
  double error_of(const Factor& factor, double sigma) const;

  // The rows in their new order: entries left of the diagonal, and the diagonal.
  std::vector<std::size_t> row_begin_;  // [size + 1]
  std::vector<int> columns_;
  std::vector<double> values_;
  std::vector<double> mass_values_;  // empty: B is the identity
  std::vector<double> diagonal_;  // [size]
  std::vector<double> mass_diagonal_;  // [size]
  double size_of_matrix_ = 0;  // ‖A‖∞ and ‖B‖∞, where there is a B
  double size_of_mass_ = 0;
  std::vector<int> parents_;  // of the elimination tree; -1: a root
  std::vector<std::size_t> column_begin_;  // of L, [size + 1]
  bool fits_ = false;
  double flops_ = 0;
  double nonzeros_ = 0;
  std::int64_t longest_row_ = 0;  // of L
};

}  // namespace weft::solver
