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
constexpr GlobalIndex fetched_rows = 3;

[[gnu::always_inline]] inline void fetch_row(const double* row, GlobalIndex count) {
  for (GlobalIndex i = 0; i < count; i += 8) __builtin_prefetch(row + i, 0, 2);
}

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

void FinestResidual::fill(const spmv::GridBox& plane, const spmv::GridBox& own, const PlaneRing& f,
                          CloseSum* square) const {
  const GlobalIndex z = plane.begin[2];
  const spmv::GridBox counted = intersection(plane, own);
  const double inverse = 1 / scale;
  const PlaneRing::Plane rows = f.plane(z);
  with_shape(stencil, [&](const auto& shape) __attribute__((always_inline)) {
    for (GlobalIndex y = plane.begin[1]; y < plane.end[1]; ++y) {
      float* const out = rows.row(y);
      fetch_row(b + layout.index(plane.begin[0], y + fetched_rows, z), plane.size(0));
      fetch_row(x + layout.index(plane.begin[0], y + fetched_rows, z + 1), plane.size(0));
      const auto part = [&](GlobalIndex begin, GlobalIndex end,
                            CloseSum* sum) __attribute__((always_inline)) {
        const std::size_t first = layout.index(begin, y, z);
        residual_row(shape, layout, b + first, x + first, inverse, end - begin, out + begin, sum);
      };
      const bool counts =
          square && !counted.is_empty() && y >= counted.begin[1] && y < counted.end[1];
      if (!counts) {
        part(plane.begin[0], plane.end[0], nullptr);
      } else {
        part(plane.begin[0], counted.begin[0], nullptr);
        part(counted.begin[0], counted.end[0], square);
        part(counted.end[0], plane.end[0], nullptr);
      }
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
