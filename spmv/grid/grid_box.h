#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Points of a grid, by global coordinates from 0; direction 0 is x, which runs fastest.
struct GridBox {
  std::array<GlobalIndex, 3> begin{};
  std::array<GlobalIndex, 3> end{};

  GlobalIndex size(std::size_t direction) const {
    return std::max<GlobalIndex>(0, end[direction] - begin[direction]);
  }
  GlobalIndex point_count() const { return size(0) * size(1) * size(2); }
  bool is_empty() const { return point_count() == 0; }

  bool operator==(const GridBox&) const = default;
};

/// The points that are in both.
inline GridBox intersection(const GridBox& a, const GridBox& b) {
  GridBox both;
  for (std::size_t d = 0; d < 3; ++d) {
    both.begin[d] = std::max(a.begin[d], b.begin[d]);
    both.end[d] = std::min(a.end[d], b.end[d]);
  }
  return both;
}

/// `box` and `depth` points around it, as far as `grid` goes.
inline GridBox grown(GridBox box, int depth, const GridBox& grid) {
  for (std::size_t d = 0; d < 3; ++d) {
    box.begin[d] = std::max(box.begin[d] - depth, grid.begin[d]);
    box.end[d] = std::min(box.end[d] + depth, grid.end[d]);
  }
  return box;
}

/// The least box with the points of both.
inline GridBox hull(const GridBox& a, const GridBox& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  GridBox both;
  for (std::size_t d = 0; d < 3; ++d) {
    both.begin[d] = std::min(a.begin[d], b.begin[d]);
    both.end[d] = std::max(a.end[d], b.end[d]);
  }
  return both;
}

}  // namespace weft::spmv
