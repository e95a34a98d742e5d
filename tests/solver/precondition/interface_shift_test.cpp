#include "solver/precondition/interface_shift.h"

#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

/// Rows 1 to 4 of a tridiagonal 6×6 matrix, −1 beside `diagonal`.
LowerTriangle middle(double diagonal) {
  LowerTriangle matrix{4, {}};
  for (int i = 0; i < 4; ++i) {
    matrix.entries.push_back({i, i, diagonal});
    if (i > 0) matrix.entries.push_back({i, i - 1, -1});
  }
  return matrix;
}

std::vector<double> diagonal_of(const LowerTriangle& matrix) {
  std::vector<double> diagonal(matrix.size);
  for (const LowerTriangle::Entry& entry : matrix.entries)
    if (entry.row == entry.column) diagonal[static_cast<std::size_t>(entry.row)] += entry.value;
  return diagonal;
}

const OverlappingRows rows{.number = 0, .core = {2, 3}, .rows = {1, 2, 3, 4}, .cut = {1, 0, 0, 1}};

}  // namespace

TEST_CASE("what was cut leaves the diagonal by its share") {
  for (const double shift : {1.0, 0.5, 0.125}) {
    LowerTriangle matrix = middle(2);
    shift_interface(rows, shift, matrix);
    CHECK(diagonal_of(matrix) == std::vector<double>{1 + shift, 2, 2, 1 + shift});
  }
  LowerTriangle same = middle(2);
  shift_interface(rows, 1, same);
  CHECK(same.entries.size() == middle(2).entries.size());
}

TEST_CASE("a row keeps what its diagonal needs to be dominant") {
  LowerTriangle matrix = middle(1.25);  // of rows that are not
  shift_interface(rows, 0.5, matrix);
  CHECK(diagonal_of(matrix) == std::vector<double>{1.125, 1.25, 1.25, 1.125});
  LowerTriangle less = middle(0.75);
  shift_interface(rows, 0.5, less);
  CHECK(diagonal_of(less) == std::vector<double>(4, 0.75));
}

}  // namespace weft::solver
