#pragma once

#include <algorithm>
#include <cstddef>

#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::spmv {

/// `box` cut along y such that `plane_count` planes of a strip take 384 KB: they stay in the
/// second-level cache while a kernel goes through the strip in z.
class GridStrips {
 public:
  GridStrips(const GridBox& box, GlobalIndex height) : box_(box), height_(height) {}

  class Iterator {
   public:
    Iterator(const GridBox& box, GlobalIndex height, GlobalIndex y)
        : box_(box), height_(height), y_(y) {}
    GridBox operator*() const {
      GridBox strip = box_;
      strip.begin[1] = y_;
      strip.end[1] = std::min(y_ + height_, box_.end[1]);
      return strip;
    }
    Iterator& operator++() {
      y_ = std::min(y_ + height_, box_.end[1]);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return y_ != other.y_; }

   private:
    GridBox box_;
    GlobalIndex height_;
    GlobalIndex y_;
  };

  Iterator begin() const { return {box_, height_, box_.begin[1]}; }
  Iterator end() const { return {box_, height_, box_.end[1]}; }

 private:
  GridBox box_;
  GlobalIndex height_;
};

inline GridStrips strips(const GridBox& box, const GridLayout& layout, int plane_count) {
  constexpr std::ptrdiff_t bytes = 384 * 1024;
  const std::ptrdiff_t row_bytes =
      layout.row_stride() * static_cast<std::ptrdiff_t>(sizeof(double));
  return {box, std::max<GlobalIndex>(4, bytes / (plane_count * row_bytes))};
}

}  // namespace weft::spmv
