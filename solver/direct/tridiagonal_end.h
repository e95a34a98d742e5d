#pragma once

#include <span>
#include <vector>

namespace weft::solver {

/// A value at an end of the spectrum of a symmetric tridiagonal matrix, and its vector.
struct TridiagonalPair {
  double value = 0;
  std::vector<double> vector;  // [n], of norm 1
};

/// The eigenvalue of that number, from 0 in ascending order, by bisection. Flops: about 300 n.
/// `off_diagonal`: [n - 1], or longer. Source: Golub, Van Loan, "Matrix Computations", 4th
/// edition, section 8.4.1.
double tridiagonal_value(std::span<const double> diagonal, std::span<const double> off_diagonal,
                         int number);

/// The same with its vector, by two factorizations that meet where that is largest.
/// Source: Dhillon, Parlett 2004, "Orthogonal eigenvectors and relative gaps", section 2.
TridiagonalPair tridiagonal_pair(std::span<const double> diagonal,
                                 std::span<const double> off_diagonal, int number);

}  // namespace weft::solver
