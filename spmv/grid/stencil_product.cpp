#include "spmv/grid/stencil_product.h"

#include <algorithm>

#include "perfmodel/fetch.h"
#include "spmv/grid/rows_ahead.h"
#include "spmv/grid/stencil_kernel.h"
#include "spmv/grid/strips.h"
#include "spmv/sums/binned_sum.h"

namespace weft::spmv {
namespace {

using perfmodel::fetch;
using perfmodel::load;
using perfmodel::store;

/// Multiplies one row; adds x·y to `sum` where `has_sum`. `soon`: from here to what is fetched.
template <class Simd, bool has_sum, class Shape>
[[gnu::always_inline]] inline void multiply_row(const Shape& shape, const GridLayout& layout,
                                                const double* x, double* y, std::ptrdiff_t soon,
                                                std::ptrdiff_t count, CloseSum::In<Simd>& sum) {
  const std::ptrdiff_t row = layout.row_stride();
  const std::ptrdiff_t plane = layout.plane_stride();
  const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    fetch<Value>(i, x + plane + soon, y + soon);
    const Value product = shape.template at<Value>(x + i, row, plane);
    store(y + i, product);
    if constexpr (has_sum) sum.add(load<Value>(x + i) * product);
  };
  if constexpr (has_sum)
    for_lanes_of_sums<Simd>(count, step, sum);
  else
    for_lanes<Simd>(count, step);
}

}  // namespace

void multiply_stencil(const GridStencil& stencil, const GridLayout& layout, const double* x,
                      double* y, const GridBox& box, RowSum x_dot_y,
                      const std::function<void()>& pause) {
  if (box.is_empty()) return;
  CloseSum sum(x_dot_y.bound);
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    CloseSum::In<Simd> local(sum);
    for (const GridBox& strip : strips(box, layout, 3)) {
      const RowsAhead ahead(layout, strip.size(0), strip.begin[1], strip.end[1]);
      for (GlobalIndex z = strip.begin[2]; z < strip.end[2]; ++z) {
        for (GlobalIndex row = strip.begin[1]; row < strip.end[1]; ++row) {
          const std::size_t first = layout.index(strip.begin[0], row, z);
          const std::ptrdiff_t soon = ahead.from(row);
          const std::ptrdiff_t count = strip.size(0);
          if (x_dot_y.part)
            multiply_row<Simd, true>(shape, layout, x + first, y + first, soon, count, local);
          else
            multiply_row<Simd, false>(shape, layout, x + first, y + first, soon, count, local);
        }
        if (pause) pause();
      }
    }
    local.store(sum);
  });
  if (x_dot_y.part) sum.flush(*x_dot_y.part);
}

}  // namespace weft::spmv
