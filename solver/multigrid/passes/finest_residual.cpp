#include "solver/multigrid/passes/finest_residual.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "perfmodel/simd.h"
#include "spmv/grid/stencil_kernel.h"

namespace weft::solver {
namespace {

using perfmodel::elements;
using perfmodel::Lanes;
using spmv::CloseSum;
using spmv::GlobalIndex;

/// Eight floats at any address.
struct [[gnu::packed, gnu::may_alias]] FloatLanes {
  float __attribute__((vector_size(32))) value;
};

template <class Elements>
[[gnu::always_inline]] inline void store(double* to, const decltype(Elements::value)& value) {
  perfmodel::elements<Elements>(to).value = value;
}

template <class Elements>
[[gnu::always_inline]] inline void store(float* to, const decltype(Elements::value)& value) {
  if constexpr (sizeof(Elements) == sizeof(Lanes))
    reinterpret_cast<FloatLanes*>(to)->value =
        __builtin_convertvector(value, float __attribute__((vector_size(32))));
  else
    *to = static_cast<float>(value);
}

/// Rows between the one that is prefetched from memory and the one that is computed.
constexpr GlobalIndex rows_ahead = 3;

/// `count` points of a row. `f`, `square`: none where null.
template <class Value, class Shape>
[[gnu::always_inline]] inline void residual_row(const Shape& shape, const spmv::GridLayout& layout,
                                                const double* b, const double* x, double inverse,
                                                std::ptrdiff_t count, Value* f, CloseSum* square) {
  if (count <= 0) return;
  const std::ptrdiff_t row = layout.row_stride();
  const std::ptrdiff_t plane = layout.plane_stride();
  const auto run = [&](auto sums, auto stores) __attribute__((always_inline)) {
    CloseSum local = sums ? *square : CloseSum(0);  // in registers
    perfmodel::for_lanes(
        count, [&]<class Elements>(std::ptrdiff_t i) __attribute__((always_inline)) {
          __builtin_prefetch(b + i + rows_ahead * row, 0, 3);
          __builtin_prefetch(x + i + rows_ahead * row + plane, 0, 3);
          decltype(Elements::value) product;
          shape.template at<Elements>(x + i, row, plane, product);
          const decltype(Elements::value) r = elements<Elements>(b + i).value - product;
          if constexpr (stores) store<Elements>(f + i, r * inverse);
          if constexpr (sums) local.add(r * r);
        });
    if constexpr (sums) {
      local.carry();
      *square = local;
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
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
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
        residual_row(shape, where, (part ? part->b.data() : b) + first,
                     (part ? part->x.data() : x) + first, 1 / scale, end - begin, f + begin,
                     range.square);
      }
    }
  });
}

void FinestResidual::add_square(const spmv::GridBox& own, CloseSum& square) const {
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    for (GlobalIndex z = own.begin[2]; z < own.end[2]; ++z)
      for (GlobalIndex y = own.begin[1]; y < own.end[1]; ++y) {
        const std::size_t first = layout.index(own.begin[0], y, z);
        residual_row(shape, layout, b + first, x + first, 1, own.size(0),
                     static_cast<float*>(nullptr), &square);
      }
  });
}

template void FinestResidual::fill(const spmv::GridBox&, const spmv::GridBox&, GlobalIndex,
                                   GlobalIndex, float*, CloseSum*) const;
template void FinestResidual::fill(const spmv::GridBox&, const spmv::GridBox&, GlobalIndex,
                                   GlobalIndex, double*, CloseSum*) const;

}  // namespace weft::solver
