#pragma once

#include <cstddef>

#include "spmv/grid/grid_box.h"

namespace weft::spmv {

/// Memory layout of the points of a box and the points around it: rows along x, each beginning at a
/// multiple of 64 bytes, then planes.
///
///     ghost | own points x … | ghost | spare      `depth` ghost points on every side
///
/// Rows and planes are never a multiple of 4096 bytes apart, which would put the neighbours of a
/// point into the same set of the cache.
class GridLayout {
 public:
  /// `per_line`: elements in 64 bytes.
  GridLayout(const GridBox& own, int depth, int per_line = 8);

  const GridBox& own() const { return own_; }
  /// The own points and all around them.
  GridBox with_ghosts() const;

  /// Sets the points of `box` in an array of this layout.
  void fill(double* array, const GridBox& box, double value) const;

  std::ptrdiff_t row_stride() const { return row_stride_; }
  std::ptrdiff_t plane_stride() const { return plane_stride_; }
  std::size_t element_count() const { return element_count_; }

  std::size_t index(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
    return static_cast<std::size_t>((z - own_.begin[2] + depth_) * plane_stride_ +
                                    (y - own_.begin[1] + depth_) * row_stride_ +
                                    (x - own_.begin[0] + row_front_));
  }

 private:
  GridBox own_;
  int depth_;
  std::ptrdiff_t row_front_;  // elements in front of the first own one
  std::ptrdiff_t row_stride_;
  std::ptrdiff_t plane_stride_;
  std::size_t element_count_;
};

}  // namespace weft::spmv
