#pragma once

#include <algorithm>
#include <cstddef>

#include "solver/multigrid/grids/grid_array.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// The last planes of a stage of a fused pass, in the cache of the thread that runs it.
///
///     stage k writes plane z, stage k+1 reads planes z-2, z-1, z      3 planes take turns
///
/// Rows and planes outside of the grid are zero.
template <class Value>
class PlaneRing {
 public:
  /// Points of a row in memory, of a ring for rows of `points`.
  static std::ptrdiff_t row_stride(spmv::GlobalIndex points) {
    return (points + 2 * margin + 15) / 16 * 16;
  }
  static std::size_t element_count(const spmv::GridBox& box, int planes) {
    return static_cast<std::size_t>(planes * box.size(1) * row_stride(box.size(0)) + margin);
  }

  PlaneRing() = default;
  /// `box`: all points that are ever written. `memory`: [element_count].
  PlaneRing(const spmv::GridBox& box, const spmv::GridBox& grid, int planes, Value* memory,
            const Value* zeros)
      : planes_(planes),
        grid_(grid),
        zeros_(zeros),
        row_stride_(row_stride(box.size(0))),
        plane_stride_(row_stride_ * box.size(1)),
        first_(memory + (margin - box.begin[0] - box.begin[1] * row_stride_)) {}

  /// Rows of `box` live in `array` from now on, which needs them anyway.
  void keep_in(GridArray<Value>& array, const spmv::GridBox& box) {
    home_ = &array;
    home_box_ = box;
  }

  /// The rows of one plane.
  struct Plane {
    /// Row y of the grid, indexed by x.
    [[gnu::always_inline]] Value* row(spmv::GlobalIndex y) const {
      return y >= home_begin && y < home_end ? home + y * home_stride : first + y * stride;
    }
    /// The same to read; zeros outside of the grid.
    [[gnu::always_inline]] const Value* row_or_zeros(spmv::GlobalIndex y) const {
      return y >= 0 && y < size ? row(y) : zeros;
    }

    Value* first = nullptr;
    std::ptrdiff_t stride = 0;
    Value* home = nullptr;  // of the rows that live elsewhere
    std::ptrdiff_t home_stride = 0;
    spmv::GlobalIndex home_begin = 0;
    spmv::GlobalIndex home_end = 0;
    spmv::GlobalIndex size = 0;  // rows of the grid; 0 outside of it
    const Value* zeros = nullptr;
  };
  Plane plane(spmv::GlobalIndex z) const {
    Plane plane;
    plane.zeros = zeros_;
    if (z < 0 || z >= grid_.end[2]) return plane;
    plane.size = grid_.end[1];
    plane.stride = row_stride_;
    plane.first = first_ + z % planes_ * plane_stride_;
    if (home_ && z >= home_box_.begin[2] && z < home_box_.end[2]) {
      plane.home = home_->row(0, z);
      plane.home_stride = home_->layout().row_stride();
      plane.home_begin = home_box_.begin[1];
      plane.home_end = home_box_.end[1];
    }
    return plane;
  }

  /// Sets what lies beside a row to zero where the grid ends.
  void end_row(Value* row, spmv::GlobalIndex begin, spmv::GlobalIndex end) const {
    if (begin == 0) row[-1] = 0;
    if (end == grid_.end[0]) row[end] = 0;
  }

 private:
  static constexpr std::ptrdiff_t margin = 16;

  GridArray<Value>* home_ = nullptr;
  spmv::GridBox home_box_;
  int planes_ = 1;
  spmv::GridBox grid_;
  const Value* zeros_ = nullptr;
  std::ptrdiff_t row_stride_ = 0;
  std::ptrdiff_t plane_stride_ = 0;
  Value* first_ = nullptr;  // the point (0, 0, 0), indexed by x
};

}  // namespace weft::solver
