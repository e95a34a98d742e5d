#include "solver/multigrid/passes/finest_residual.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "perfmodel/simd.h"
#include "spmv/grid/stencil_kernel.h"

namespace weft::solver {
namespace {

using perfmodel::load;
using spmv::CloseSum;
using spmv::GlobalIndex;

template <class Value>
[[gnu::always_inline]] inline void store_as(double* to, const Value& value) {
  perfmodel::store(to, value);
}
template <class Value>
[[gnu::always_inline]] inline void store_as(float* to, const Value& value) {
  if constexpr (std::is_same_v<Value, double>)
    *to = static_cast<float>(value);
  else
    value.store_converted(to);
}

/// Rows between the one that is prefetched from memory and the one that is computed.
constexpr GlobalIndex rows_ahead = 3;

/// `count` points of a row. `f`, `square`: none where null.
template <class Simd, class Number, class Shape>
[[gnu::always_inline]] inline void residual_row(const Shape& shape, const spmv::GridLayout& layout,
                                                const double* b, const double* x, double inverse,
                                                std::ptrdiff_t count, Number* f, CloseSum* square) {
  if (count <= 0) return;
  const std::ptrdiff_t row = layout.row_stride();
  const std::ptrdiff_t plane = layout.plane_stride();
  CloseSum none(0);
  const auto run = [&](auto sums, auto stores) __attribute__((always_inline)) {
    CloseSum::In<Simd> local(sums ? *square : none);
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      __builtin_prefetch(b + i + rows_ahead * row, 0, 3);
      __builtin_prefetch(x + i + rows_ahead * row + plane, 0, 3);
      const Value r = load<Value>(b + i) - shape.template at<Value>(x + i, row, plane);
      if constexpr (stores) store_as(f + i, Value(r * inverse));
      if constexpr (sums) local.add(r * r);
    };
    if constexpr (sums) {
      spmv::for_lanes_of_sums<Simd>(count, step, local);
      local.store(*square);
    } else {
      perfmodel::for_lanes<Simd>(count, step);
    }
  };
  if (square && f)
    run(std::true_type{}, std::true_type{});
  else if (square)
    run(std::true_type{}, std::false_type{});
  else
    run(std::false_type{}, std::true_type{});
}

}  // namespace

template <class Value>
void FinestResidual::fill(const spmv::GridBox& points, const spmv::GridBox& own, GlobalIndex y,
                          GlobalIndex z, Value* f, CloseSum* square) const {
  const auto holds = [](const spmv::GridBox& box, std::size_t d, GlobalIndex at) {
    return at >= box.begin[d] && at < box.end[d];
  };
  const spmv::GridBox counted = intersection(points, own);
  const bool counts = square && !counted.is_empty() && holds(counted, 1, y) && holds(counted, 2, z);
  struct Range {
    GlobalIndex begin;
    GlobalIndex end;
    CloseSum* square;
  };
  const GlobalIndex counted_begin = counts ? counted.begin[0] : points.end[0];
  const GlobalIndex counted_end = counts ? counted.end[0] : points.end[0];
  const std::array<Range, 3> ranges{{{points.begin[0], counted_begin, nullptr},
                                     {counted_begin, counted_end, square},
                                     {counted_end, points.end[0], nullptr}}};
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    for (std::size_t i = 0; i <= rim.size(); ++i) {
      const RimPart* const part = i > 0 ? &rim[i - 1] : nullptr;
      const spmv::GridLayout& where = part ? part->layout : layout;
      const spmv::GridBox& box = part ? part->points : rim.empty() ? points : layout.own();
      if (!holds(box, 1, y) || !holds(box, 2, z)) continue;
      for (const Range& range : ranges) {
        const GlobalIndex begin = std::max(range.begin, box.begin[0]);
        const GlobalIndex end = std::min(range.end, box.end[0]);
        if (begin >= end) continue;
        const std::size_t first = where.index(begin, y, z);
        residual_row<Simd>(shape, where, (part ? part->b.data() : b) + first,
                           (part ? part->x.data() : x) + first, 1 / scale, end - begin, f + begin,
                           range.square);
      }
    }
  });
}

void FinestResidual::add_square(const spmv::GridBox& own, CloseSum& square) const {
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    for (GlobalIndex z = own.begin[2]; z < own.end[2]; ++z)
      for (GlobalIndex y = own.begin[1]; y < own.end[1]; ++y) {
        const std::size_t first = layout.index(own.begin[0], y, z);
        residual_row<Simd>(shape, layout, b + first, x + first, 1, own.size(0),
                           static_cast<float*>(nullptr), &square);
      }
  });
}

template void FinestResidual::fill(const spmv::GridBox&, const spmv::GridBox&, GlobalIndex,
                                   GlobalIndex, float*, CloseSum*) const;
template void FinestResidual::fill(const spmv::GridBox&, const spmv::GridBox&, GlobalIndex,
                                   GlobalIndex, double*, CloseSum*) const;

}  // namespace weft::solver
