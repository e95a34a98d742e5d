#include "spmv/grid/layout.h"

#include <algorithm>

namespace weft::spmv {
namespace {

constexpr std::ptrdiff_t line = 8;  // doubles in 64 bytes
constexpr std::ptrdiff_t page = 512;  // doubles in 4096 bytes

std::ptrdiff_t whole_lines(std::ptrdiff_t elements) { return (elements + line - 1) / line * line; }

/// Whole lines, and not a multiple of a page.
std::ptrdiff_t stride(std::ptrdiff_t elements) {
  const std::ptrdiff_t lines = whole_lines(elements);
  return lines % page == 0 ? lines + line : lines;
}

}  // namespace

GridLayout::GridLayout(const GridBox& own, int depth)
    : own_(own),
      depth_(depth),
      row_front_(whole_lines(depth)),
      row_stride_(stride(row_front_ + own.size(0) + depth)),
      plane_stride_(stride(row_stride_ * (own.size(1) + 2 * depth))),
      element_count_(static_cast<std::size_t>(plane_stride_ * (own.size(2) + 2 * depth) + line)) {}

GridBox GridLayout::with_ghosts() const {
  GridBox box = own_;
  for (std::size_t d = 0; d < 3; ++d) {
    box.begin[d] -= depth_;
    box.end[d] += depth_;
  }
  return box;
}

void GridLayout::fill(double* array, const GridBox& box, double value) const {
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
      std::fill_n(array + index(box.begin[0], y, z), box.size(0), value);
}

}  // namespace weft::spmv
