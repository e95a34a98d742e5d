#pragma once

#include <cstddef>

#include "perfmodel/simd.h"
#include "spmv/grid/stencil.h"
#include "spmv/rows/index.h"

/// The product of a stencil with one point or eight, for the kernels that fuse it with other work.
///
/// `u` points at the point in an array of a GridLayout; `row` and `plane` are its strides. Terms
/// are added in ascending order of column, as the rows of the matrix are, so that the bits are the
/// same.
///
/// `half_at` is for u·(A·u): A is symmetric, so that the sum over all points of
/// u·(centre·u - 2·(its neighbours that come before it)) is the same, with half the loads, and the
/// planes above a point are not needed yet. `u_here` is the value at u, `u_before` that at u - 1.
/// Before a point come those of lower z, then y, then x: `rows_behind` is the number of rows of the
/// plane below, beyond the first of its own plane, that must be complete.
namespace weft::spmv {

using perfmodel::for_lanes;
using perfmodel::load;
using perfmodel::store;

/// 7 points, all neighbours -1: 7 flops, a half 5. (A sum of negatives is the negative of the sum.)
struct UnitSevenPoints {
  static constexpr GlobalIndex rows_behind = 0;
  double centre;

  template <class Value>
  [[gnu::always_inline]] Value at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane) const {
    const auto before = (load<Value>(u - plane) + load<Value>(u - row)) + load<Value>(u - 1);
    return (((centre * load<Value>(u) - before) - load<Value>(u + 1)) - load<Value>(u + row)) -
           load<Value>(u + plane);
  }

  template <class Value>
  [[gnu::always_inline]] Value half_at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                       const Value& u_here, const Value& u_before) const {
    const auto before = (load<Value>(u - plane) + load<Value>(u - row)) + u_before;
    return centre * u_here - 2 * before;
  }
};

/// 7 points with a weight per direction: 13 flops, a half 8.
struct WeightedSevenPoints {
  static constexpr GlobalIndex rows_behind = 0;
  double centre;
  double x, y, z;

  template <class Value>
  [[gnu::always_inline]] Value at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane) const {
    const auto before =
        (z * load<Value>(u - plane) + y * load<Value>(u - row)) + x * load<Value>(u - 1);
    return (((centre * load<Value>(u) - before) - x * load<Value>(u + 1)) -
            y * load<Value>(u + row)) -
           z * load<Value>(u + plane);
  }

  template <class Value>
  [[gnu::always_inline]] Value half_at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                       const Value& u_here, const Value& u_before) const {
    const auto before = (z * load<Value>(u - plane) + y * load<Value>(u - row)) + x * u_before;
    return centre * u_here - 2 * before;
  }
};

/// 27 points, all neighbours -1: 27 flops, a half 15.
struct TwentySevenPoints {
  static constexpr GlobalIndex rows_behind = 1;
  double centre;

  template <class Value>
  [[gnu::always_inline]] Value at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane) const {
    const Value before = sum_before<Value>(u, row, plane) + load<Value>(u - 1);
    Value sum = centre * load<Value>(u) - before;
    sum -= load<Value>(u + 1);
    for (const std::ptrdiff_t line : {row, plane - row, plane, plane + row})
      for (const std::ptrdiff_t x : {-1, 0, 1}) sum -= load<Value>(u + line + x);
    return sum;
  }

  template <class Value>
  [[gnu::always_inline]] Value half_at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                       const Value& u_here, const Value& u_before) const {
    return centre * u_here - 2 * (sum_before<Value>(u, row, plane) + u_before);
  }

 private:
  /// The sum of the rows before.
  template <class Value>
  [[gnu::always_inline]] static Value sum_before(const double* u, std::ptrdiff_t row,
                                                 std::ptrdiff_t plane) {
    Value before = load<Value>(u - plane - row - 1) + load<Value>(u - plane - row);
    before += load<Value>(u - plane - row + 1);
    for (const std::ptrdiff_t line : {-plane, -plane + row, -row})
      for (const std::ptrdiff_t x : {-1, 0, 1}) before += load<Value>(u + line + x);
    return before;
  }
};

/// Calls use(the shape of `stencil`).
template <class Use>
void visit_shape(const GridStencil& stencil, const Use& use) {
  if (stencil.has_corners)
    use(TwentySevenPoints{stencil.centre});
  else if (stencil.has_unit_weights())
    use(UnitSevenPoints{stencil.centre});
  else
    use(WeightedSevenPoints{stencil.centre, stencil.weights[0], stencil.weights[1],
                            stencil.weights[2]});
}

/// Calls body<Simd>(shape) with the shape of `stencil`, inside the widest instruction set of this
/// processor. `body` must be always_inline.
template <class Body>
void with_shape(const GridStencil& stencil, const Body& body) {
  visit_shape(stencil, [&](const auto& shape) {
    perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
      body.template operator()<Simd>(shape);
    });
  });
}

}  // namespace weft::spmv
