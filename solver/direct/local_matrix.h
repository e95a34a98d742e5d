#pragma once

#include <cstddef>
#include <vector>

#include "solver/direct/lower_triangle.h"

namespace weft::solver {

/// A small square matrix of one rank in compressed row storage, columns ascending in each row.
///
///     rows and columns 0 1 2 of     2 -1  ·     row_begin = {0, 2, 5, 7}
///                                  -1  2 -1     columns   = {0, 1, 0, 1, 2, 1, 2}
///                                   · -1  2
struct LocalMatrix {
  std::vector<int> row_begin{0};  // [size + 1]
  std::vector<int> columns{};
  std::vector<double> values{};

  std::size_t size() const { return row_begin.size() - 1; }
  /// The entry's place in `values`; -1 where there is none.
  int find(int row, int column) const;
};

/// True if a_ij and a_ji differ by no more than rounding, 1e-10 of the larger one.
bool is_symmetric(const LocalMatrix& matrix);

/// Entries on and below the diagonal, row by row.
LowerTriangle lower_triangle(const LocalMatrix& matrix);

}  // namespace weft::solver
