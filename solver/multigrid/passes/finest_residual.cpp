#include "solver/multigrid/passes/finest_residual.h"

#include <algorithm>

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
template <class Shape>
[[gnu::always_inline]] inline void residual_row(const Shape& shape, const spmv::GridLayout& layout,
                                                const double* b, const double* x, double inverse,
                                                std::ptrdiff_t count, float* f, CloseSum* square) {
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

void FinestResidual::fill(const spmv::GridBox& points, const spmv::GridBox& own, GlobalIndex y,
                          GlobalIndex z, float* f, CloseSum* square) const {
  const auto holds = [](const spmv::GridBox& box, std::size_t d, GlobalIndex at) {
    return at >= box.begin[d] && at < box.end[d];
  };
  const GlobalIndex begin = points.begin[0];
  const GlobalIndex end = points.end[0];
  const spmv::GridBox counted = intersection(points, own);
  const bool counts = square && !counted.is_empty() && holds(counted, 1, y) && holds(counted, 2, z);
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    const auto part = [&](GlobalIndex from, GlobalIndex to,
                          CloseSum* sum) __attribute__((always_inline)) {
      const std::size_t first = layout.index(from, y, z);
      residual_row(shape, layout, b + first, x + first, 1 / scale, to - from, f + from, sum);
    };
    if (!counts) {
      part(begin, end, nullptr);
    } else {
      part(begin, counted.begin[0], nullptr);
      part(counted.begin[0], counted.end[0], square);
      part(counted.end[0], end, nullptr);
    }
  });
}

void FinestResidual::add_square(const spmv::GridBox& own, CloseSum& square) const {
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    for (GlobalIndex z = own.begin[2]; z < own.end[2]; ++z)
      for (GlobalIndex y = own.begin[1]; y < own.end[1]; ++y) {
        const std::size_t first = layout.index(own.begin[0], y, z);
        residual_row(shape, layout, b + first, x + first, 1, own.size(0), nullptr, &square);
      }
  });
}

}  // namespace weft::solver
