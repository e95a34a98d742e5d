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

/// What is read, of the own points or of a rim.
struct Arrays {
  const spmv::GridLayout& layout;
  const double* b;
  const double* x;
};

/// Points [begin, end) of row (y, z): to `f` if `stores`, their squares to `sum` if `sums`.
template <class Simd, bool stores, bool sums, class Number, class Shape>
[[gnu::always_inline]] inline void residual_row(const Shape& shape, const Arrays& arrays,
                                                double inverse, GlobalIndex begin, GlobalIndex end,
                                                GlobalIndex y, GlobalIndex z, Number* f,
                                                CloseSum::In<Simd>& sum) {
  if (begin >= end) return;
  const std::ptrdiff_t row = arrays.layout.row_stride();
  const std::ptrdiff_t plane = arrays.layout.plane_stride();
  const std::size_t first = arrays.layout.index(begin, y, z);
  const double* const b = arrays.b + first;
  const double* const x = arrays.x + first;
  const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
    __builtin_prefetch(b + i + rows_ahead * row, 0, 3);
    __builtin_prefetch(x + i + rows_ahead * row + plane, 0, 3);
    const Value r = load<Value>(b + i) - shape.template at<Value>(x + i, row, plane);
    if constexpr (stores) store_as(f + begin + i, Value(r * inverse));
    if constexpr (sums) sum.add(r * r);
  };
  if constexpr (sums)
    spmv::for_lanes_of_sums<Simd>(end - begin, step, sum);
  else
    perfmodel::for_lanes<Simd>(end - begin, step);
}

}  // namespace

template <class Value>
void FinestResidual::fill(const spmv::GridBox& points, const spmv::GridBox& own, GlobalIndex z,
                          const typename PlaneRing<Value>::Plane& f, CloseSum* square) const {
  const auto holds = [](const spmv::GridBox& box, std::size_t d, GlobalIndex at) {
    return at >= box.begin[d] && at < box.end[d];
  };
  const spmv::GridBox counted = square ? intersection(points, own) : spmv::GridBox{};
  const bool counts = !counted.is_empty() && holds(counted, 2, z);
  CloseSum none(0);
  CloseSum& sum = counts ? *square : none;
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    CloseSum::In<Simd> local(sum);
    for (std::size_t i = 0; i <= rim.size(); ++i) {
      const RimPart* const part = i > 0 ? &rim[i - 1] : nullptr;
      const Arrays arrays =
          part ? Arrays{part->layout, part->b.data(), part->x.data()} : Arrays{layout, b, x};
      const spmv::GridBox box = part          ? intersection(points, part->points)
                                : rim.empty() ? points
                                              : intersection(points, layout.own());
      if (box.is_empty() || !holds(box, 2, z)) continue;
      const GlobalIndex begin = box.begin[0];
      const GlobalIndex end = box.end[0];
      for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
        const bool counts_row = counts && holds(counted, 1, y);
        const GlobalIndex from = counts_row ? std::clamp(counted.begin[0], begin, end) : end;
        const GlobalIndex to = counts_row ? std::clamp(counted.end[0], begin, end) : end;
        Value* const out = f.row(y);
        residual_row<Simd, true, false>(shape, arrays, 1 / scale, begin, from, y, z, out, local);
        residual_row<Simd, true, true>(shape, arrays, 1 / scale, from, to, y, z, out, local);
        residual_row<Simd, true, false>(shape, arrays, 1 / scale, to, end, y, z, out, local);
      }
    }
    local.store(sum);
  });
}

void FinestResidual::add_square(const spmv::GridBox& own, CloseSum& square) const {
  with_shape(stencil, [&]<class Simd>(const auto& shape) __attribute__((always_inline)) {
    CloseSum::In<Simd> local(square);
    for (GlobalIndex z = own.begin[2]; z < own.end[2]; ++z)
      for (GlobalIndex y = own.begin[1]; y < own.end[1]; ++y)
        residual_row<Simd, false, true>(shape, Arrays{layout, b, x}, 1, own.begin[0], own.end[0], y,
                                        z, static_cast<float*>(nullptr), local);
    local.store(square);
  });
}

template void FinestResidual::fill<float>(const spmv::GridBox&, const spmv::GridBox&, GlobalIndex,
                                          const PlaneRing<float>::Plane&, CloseSum*) const;
template void FinestResidual::fill<double>(const spmv::GridBox&, const spmv::GridBox&, GlobalIndex,
                                           const PlaneRing<double>::Plane&, CloseSum*) const;

}  // namespace weft::solver
