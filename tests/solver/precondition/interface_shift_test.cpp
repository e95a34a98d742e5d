#include "solver/precondition/interface_shift.h"

#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

/// Rows 1 to 4 of a tridiagonal 6×6 matrix, −1 beside `diagonal`.
LocalMatrix middle(double diagonal) {
  LocalMatrix matrix;
  for (int i = 0; i < 4; ++i) {
    for (const int j : {i - 1, i, i + 1})
      if (j >= 0 && j < 4) {
        matrix.columns.push_back(j);
        matrix.values.push_back(i == j ? diagonal : -1);
      }
    matrix.row_begin.push_back(static_cast<int>(matrix.columns.size()));
  }
  return matrix;
}

std::vector<double> diagonal_of(const LocalMatrix& matrix) {
  std::vector<double> diagonal;
  for (int row = 0; row < 4; ++row)
    diagonal.push_back(matrix.values[static_cast<std::size_t>(matrix.find(row, row))]);
  return diagonal;
}

const OverlappingRows rows{.number = 0, .core = {2, 3}, .rows = {1, 2, 3, 4}, .cut = {1, 0, 0, 1}};

}  // namespace

TEST_CASE("what was cut leaves the diagonal by its share") {
  for (const double shift : {1.0, 0.5, 0.125}) {
    LocalMatrix matrix = middle(2);
    shift_interface(rows, shift, matrix);
    CHECK(diagonal_of(matrix) == std::vector<double>{1 + shift, 2, 2, 1 + shift});
  }
  LocalMatrix same = middle(2);
  shift_interface(rows, 1, same);
  CHECK(same.values == middle(2).values);
}

TEST_CASE("a row keeps what its diagonal needs to be dominant") {
  LocalMatrix matrix = middle(1.25);  // of rows that are not
  shift_interface(rows, 0.5, matrix);
  CHECK(diagonal_of(matrix) == std::vector<double>{1.125, 1.25, 1.25, 1.125});
  LocalMatrix less = middle(0.75);
  shift_interface(rows, 0.5, less);
  CHECK(diagonal_of(less) == std::vector<double>(4, 0.75));
}

}  // namespace weft::solver
