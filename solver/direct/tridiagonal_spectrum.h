#pragma once

#include <vector>

namespace weft::solver {

/// T = V·Λ·Vᵀ of a symmetric tridiagonal matrix.
struct TridiagonalSpectrum {
  std::vector<double> values;  // [n]
  std::vector<double> vectors;  // [n × n], row by row; column k belongs to values[k]
};

/// `diagonal`: [n]; `off_diagonal`: [n - 1], or longer. O(n³), for n of some hundreds.
/// Source: implicit QL; Golub and Van Loan, "Matrix Computations", section 8.3.
TridiagonalSpectrum tridiagonal_spectrum(std::vector<double> diagonal,
                                         std::vector<double> off_diagonal);

/// The same without the inner entries of the vectors, in O(n²).
struct TridiagonalEnds {
  std::vector<double> values;  // [n], in no order
  std::vector<double> first;  // entries of their vectors
  std::vector<double> last;
};
TridiagonalEnds tridiagonal_ends(std::vector<double> diagonal, std::vector<double> off_diagonal);

}  // namespace weft::solver
