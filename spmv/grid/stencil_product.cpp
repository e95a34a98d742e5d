#include "spmv/grid/stencil_product.h"

#include <algorithm>

#include "perfmodel/fetch.h"
#include "spmv/grid/stencil_kernel.h"
#include "spmv/grid/strips.h"
#include "spmv/sums/binned_sum.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch;
using perfmodel::fetch_lead;

/// Of one row. `sum`: none where null.
template <class Shape>
[[gnu::always_inline]] inline void multiply_row(const Shape& shape, const GridLayout& layout,
                                                const double* x, double* y, std::ptrdiff_t count,
                                                CloseSum* sum) {
  const std::ptrdiff_t row = layout.row_stride();
  const std::ptrdiff_t plane = layout.plane_stride();
  if (!sum) {
    for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
      fetch<Elements>(i, x + plane + fetch_lead, y + fetch_lead);
      decltype(Elements::value) product;
      shape.template at<Elements>(x + i, row, plane, product);
      elements<Elements>(y + i).value = product;
    });
    return;
  }
  CloseSum local = *sum;  // in registers
  for_lanes(count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
    fetch<Elements>(i, x + plane + fetch_lead, y + fetch_lead);
    decltype(Elements::value) product;
    shape.template at<Elements>(x + i, row, plane, product);
    elements<Elements>(y + i).value = product;
    local.add(elements<Elements>(x + i).value * product);
  });
  local.carry();
  *sum = local;
}

}  // namespace

void multiply_stencil(const GridStencil& stencil, const GridLayout& layout, const double* x,
                      double* y, const GridBox& box, RowSum x_dot_y,
                      const std::function<void()>& pause) {
  if (box.is_empty()) return;
  CloseSum sum(x_dot_y.bound);
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    for (const GridBox& strip : strips(box, layout, 3))
      for (GlobalIndex z = strip.begin[2]; z < strip.end[2]; ++z) {
        for (GlobalIndex row = strip.begin[1]; row < strip.end[1]; ++row) {
          const std::size_t first = layout.index(strip.begin[0], row, z);
          multiply_row(shape, layout, x + first, y + first, strip.size(0),
                       x_dot_y.part ? &sum : nullptr);
        }
        if (pause) pause();
      }
  });
  if (x_dot_y.part) sum.flush(*x_dot_y.part);
}

}  // namespace weft::spmv
