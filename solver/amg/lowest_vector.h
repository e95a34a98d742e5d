#pragma once

#include <array>
#include <cstddef>

namespace weft::solver::amg {

/// Three numbers a row and three rows: of the directions x, w and p of a search.
constexpr std::size_t direction_count = 3;
using DirectionMatrix = std::array<std::array<double, direction_count>, direction_count>;

/// The lowest vector of a symmetric matrix A relative to a symmetric positive semidefinite B.
struct LowestVector {
  double quotient = 0;
  std::array<double, direction_count> parts{};  // how much of each direction
};

/// Finds it by Cholesky's factor of B and the eigenvectors of what remains of A. Directions count
/// from the first on until one depends on those before it. Returns false where none counts.
/// Source: Golub, Van Loan, "Matrix Computations", 4th edition, section 8.7.2.
bool find_lowest_vector(const DirectionMatrix& a, const DirectionMatrix& b, LowestVector& found);

}  // namespace weft::solver::amg
