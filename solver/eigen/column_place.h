#pragma once

#include <cstddef>
#include <vector>

namespace weft::solver {

/// The place of a column of a block in the row of its panel.
struct ColumnPlace {
  ColumnPlace(const std::vector<double*>& list, int column, int width)
      : panel(list[static_cast<std::size_t>(column / width)] + column % width),
        stride(static_cast<std::size_t>(width)) {}
  double& at(std::size_t row) const { return panel[row * stride]; }

  double* panel;
  std::size_t stride;
};

}  // namespace weft::solver
