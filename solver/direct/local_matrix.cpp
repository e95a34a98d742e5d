#include "solver/direct/local_matrix.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weft::solver {
namespace {

constexpr double rounding = 1e-10;

template <class Work>
void for_each_entry(const LocalMatrix& matrix, const Work& work) {
  for (std::size_t row = 0; row < matrix.size(); ++row)
    for (int i = matrix.row_begin[row]; i < matrix.row_begin[row + 1]; ++i)
      work(static_cast<int>(row), matrix.columns[static_cast<std::size_t>(i)],
           matrix.values[static_cast<std::size_t>(i)]);
}

}  // namespace

int LocalMatrix::find(int row, int column) const {
  const auto index = static_cast<std::size_t>(row);
  const auto begin = columns.begin() + row_begin[index];
  const auto end = columns.begin() + row_begin[index + 1];
  const auto found = std::lower_bound(begin, end, column);
  return found != end && *found == column ? static_cast<int>(found - columns.begin()) : -1;
}

bool is_symmetric(const LocalMatrix& matrix) {
  bool is_equal = true;
  for_each_entry(matrix, [&](int row, int column, double value) {
    const int place = row == column || !is_equal ? -1 : matrix.find(column, row);
    if (row == column || !is_equal) return;
    const double transposed = place < 0 ? 0 : matrix.values[static_cast<std::size_t>(place)];
    is_equal =
        std::abs(value - transposed) <= rounding * std::max(std::abs(value), std::abs(transposed));
  });
  return is_equal;
}

LowerTriangle lower_triangle(const LocalMatrix& matrix) {
  LowerTriangle lower{matrix.size(), {}};
  for_each_entry(matrix, [&](int row, int column, double value) {
    if (column <= row) lower.entries.push_back({row, column, value});
  });
  return lower;
}

}  // namespace weft::solver
