#pragma once

#include <cstddef>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// Values, Value or double, at the points of a box and `depth` points around it. Points outside of
/// the grid are never written and stay 0, which is their value.
template <class Value>
class GridArray {
 public:
  GridArray() = default;
  GridArray(const spmv::GridBox& own, int depth) : GridArray(spmv::GridLayout(own, depth, 16)) {}
  /// With the layout of another one.
  explicit GridArray(const spmv::GridLayout& layout)
      : layout_(layout),
        values_(layout_.element_count()),
        row_stride_(layout_.row_stride()),
        plane_stride_(layout_.plane_stride()),
        first_(static_cast<std::ptrdiff_t>(layout_.index(0, 0, 0))) {}

  const spmv::GridLayout& layout() const { return layout_; }
  Value* values() { return values_.data(); }
  bool is_empty() const { return values_.size() == 0; }
  std::size_t byte_count() const { return values_.size() * sizeof(Value); }

  /// The row (y, z), indexed by global x.
  Value* row(spmv::GlobalIndex y, spmv::GlobalIndex z) {
    return values_.data() + (first_ + y * row_stride_ + z * plane_stride_);
  }
  const Value* row(spmv::GlobalIndex y, spmv::GlobalIndex z) const {
    return values_.data() + (first_ + y * row_stride_ + z * plane_stride_);
  }

 private:
  spmv::GridLayout layout_{{}, 0};
  perfmodel::HugePageBuffer<Value> values_;
  std::ptrdiff_t row_stride_ = 0;
  std::ptrdiff_t plane_stride_ = 0;
  std::ptrdiff_t first_ = 0;  // offset of the point (0, 0, 0)
};

}  // namespace weft::solver
