#pragma once

#include <cstdint>
#include <vector>

#include "library/include/weft/weft.hpp"

namespace weft::tests {

/// This rank's rows of a matrix of `row_count` rows: 2.5 on the diagonal, -1 beside it and in the
/// columns 50 further on, cut at places that are no multiples of a row block.
struct TridiagonalRows {
  TridiagonalRows(std::int64_t row_count, int rank, int size, double diagonal = 4.5) {
    const auto cut = [&](int r) {
      // A little more for every rank than the one before.
      return r == size ? row_count : row_count * r * (r + 1) / (size * (size + 1));
    };
    first_row = cut(rank);
    end_row = cut(rank + 1);
    offsets.push_back(0);
    for (std::int64_t row = first_row; row < end_row; ++row) {
      for (const std::int64_t distance : {-50, -1, 0, 1, 50}) {
        const std::int64_t column = row + distance;
        if (column < 0 || column >= row_count) continue;
        columns.push_back(column);
        values.push_back(distance == 0 ? diagonal
                                       : -1 - 1e-3 * static_cast<double>((row + column) % 7));
      }
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }

  Rows rows() const { return {first_row, offsets, columns, values}; }
  std::size_t count() const { return offsets.size() - 1; }

  std::int64_t first_row = 0;
  std::int64_t end_row = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

}  // namespace weft::tests
