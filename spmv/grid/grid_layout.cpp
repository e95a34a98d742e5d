#include "spmv/grid/grid_layout.h"

#include <algorithm>

namespace weft::spmv {
namespace {

constexpr std::ptrdiff_t lines_of_page = 64;

std::ptrdiff_t whole_lines(std::ptrdiff_t elements, std::ptrdiff_t line) {
  return (elements + line - 1) / line * line;
}

/// Whole lines, and not a multiple of a page.
std::ptrdiff_t stride(std::ptrdiff_t elements, std::ptrdiff_t line) {
  const std::ptrdiff_t lines = whole_lines(elements, line);
  return lines % (lines_of_page * line) == 0 ? lines + line : lines;
}

}  // namespace

GridLayout::GridLayout(const GridBox& own, int depth, int per_line)
    : own_(own),
      depth_(depth),
      row_front_(whole_lines(depth, per_line)),
      row_stride_(stride(row_front_ + own.size(0) + depth, per_line)),
      plane_stride_(stride(row_stride_ * (own.size(1) + 2 * depth), per_line)),
      element_count_(
          static_cast<std::size_t>(plane_stride_ * (own.size(2) + 2 * depth) + per_line)) {}

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
