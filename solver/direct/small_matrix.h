#pragma once

#include <cstddef>
#include <vector>

namespace weft::solver {

/// A dense matrix of the size of a search space, the same on every rank. Shape: [rows, columns],
/// column by column.
class SmallMatrix {
 public:
  SmallMatrix() = default;
  SmallMatrix(int rows, int columns)
      : rows_(rows), columns_(columns), values_(index(0, columns), 0.0) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  double& operator()(int row, int column) { return values_[index(row, column)]; }
  double operator()(int row, int column) const { return values_[index(row, column)]; }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(column) * static_cast<std::size_t>(rows_) +
           static_cast<std::size_t>(row);
  }

  int rows_ = 0;
  int columns_ = 0;
  std::vector<double> values_;
};

/// a·b. Shape: b: [columns of a, any].
SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b);

/// Eigenvalues in ascending order and orthonormal eigenvectors, as columns.
struct SymmetricEigen {
  std::vector<double> values;
  SmallMatrix vectors;
};

/// Matrices of at most so many rows have their eigenvalues found by rotations.
inline constexpr int most_rotated_rows = 32;

/// All eigenvalues and eigenvectors of a symmetric matrix, of which the upper triangle is read. The
/// bits depend on the entries alone, which those of LAPACK do not where its threads divide the
/// work.
///
/// Up to `most_rotated_rows` rows by cyclic Jacobi rotations, some eight sweeps of 6 n³ flops:
/// small eigenvalues of graded matrices, such as products of nearly dependent vectors, are found to
/// their own last digits. Larger ones by Eigen's Householder reduction and implicit QR, some 9 n³
/// flops: each to the rounding of the largest. Source: Golub, Van Loan, "Matrix Computations", 4th
/// edition, sections 8.3 and 8.5.
SymmetricEigen symmetric_eigen(const SmallMatrix& matrix);

}  // namespace weft::solver
