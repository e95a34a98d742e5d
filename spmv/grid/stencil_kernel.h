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

using perfmodel::elements;
using perfmodel::for_lanes;

/// 7 points, all neighbours -1: 7 flops, a half 5. (A sum of negatives is the negative of the sum.)
struct UnitSevenPoints {
  static constexpr GlobalIndex rows_behind = 0;
  double centre;

  template <class Elements>
  [[gnu::always_inline]] void at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                 decltype(Elements::value)& sum) const {
    const auto before = (elements<Elements>(u - plane).value + elements<Elements>(u - row).value) +
                        elements<Elements>(u - 1).value;
    sum = (((centre * elements<Elements>(u).value - before) - elements<Elements>(u + 1).value) -
           elements<Elements>(u + row).value) -
          elements<Elements>(u + plane).value;
  }

  template <class Elements>
  [[gnu::always_inline]] void half_at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                      const decltype(Elements::value)& u_here,
                                      const decltype(Elements::value)& u_before,
                                      decltype(Elements::value)& half) const {
    const auto before =
        (elements<Elements>(u - plane).value + elements<Elements>(u - row).value) + u_before;
    half = centre * u_here - 2 * before;
  }
};

/// 7 points with a weight per direction: 13 flops, a half 8.
struct WeightedSevenPoints {
  static constexpr GlobalIndex rows_behind = 0;
  double centre;
  double x, y, z;

  template <class Elements>
  [[gnu::always_inline]] void at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                 decltype(Elements::value)& sum) const {
    const auto before =
        (z * elements<Elements>(u - plane).value + y * elements<Elements>(u - row).value) +
        x * elements<Elements>(u - 1).value;
    sum = (((centre * elements<Elements>(u).value - before) - x * elements<Elements>(u + 1).value) -
           y * elements<Elements>(u + row).value) -
          z * elements<Elements>(u + plane).value;
  }

  template <class Elements>
  [[gnu::always_inline]] void half_at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                      const decltype(Elements::value)& u_here,
                                      const decltype(Elements::value)& u_before,
                                      decltype(Elements::value)& half) const {
    const auto before =
        (z * elements<Elements>(u - plane).value + y * elements<Elements>(u - row).value) +
        x * u_before;
    half = centre * u_here - 2 * before;
  }
};

/// 27 points, all neighbours -1: 27 flops, a half 15.
struct TwentySevenPoints {
  static constexpr GlobalIndex rows_behind = 1;
  double centre;

  template <class Elements>
  [[gnu::always_inline]] void at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                 decltype(Elements::value)& sum) const {
    decltype(Elements::value) before;
    sum_before<Elements>(u, row, plane, before);
    before += elements<Elements>(u - 1).value;
    sum = centre * elements<Elements>(u).value - before;
    sum -= elements<Elements>(u + 1).value;
    for (const std::ptrdiff_t line : {row, plane - row, plane, plane + row})
      for (const std::ptrdiff_t x : {-1, 0, 1}) sum -= elements<Elements>(u + line + x).value;
  }

  template <class Elements>
  [[gnu::always_inline]] void half_at(const double* u, std::ptrdiff_t row, std::ptrdiff_t plane,
                                      const decltype(Elements::value)& u_here,
                                      const decltype(Elements::value)& u_before,
                                      decltype(Elements::value)& half) const {
    decltype(Elements::value) before;
    sum_before<Elements>(u, row, plane, before);
    half = centre * u_here - 2 * (before + u_before);
  }

 private:
  /// Of the rows before.
  template <class Elements>
  [[gnu::always_inline]] static void sum_before(const double* u, std::ptrdiff_t row,
                                                std::ptrdiff_t plane,
                                                decltype(Elements::value)& before) {
    before =
        elements<Elements>(u - plane - row - 1).value + elements<Elements>(u - plane - row).value;
    before += elements<Elements>(u - plane - row + 1).value;
    for (const std::ptrdiff_t line : {-plane, -plane + row, -row})
      for (const std::ptrdiff_t x : {-1, 0, 1}) before += elements<Elements>(u + line + x).value;
  }
};

/// Calls `body(shape)` with the shape of `stencil`, inside the widest instruction set of this
/// processor. `body` must be always_inline.
template <class Body>
void with_shape(const GridStencil& stencil, const Body& body) {
  if (stencil.has_corners) {
    const TwentySevenPoints shape{stencil.centre};
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) { body(shape); });
  } else if (stencil.has_unit_weights()) {
    const UnitSevenPoints shape{stencil.centre};
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) { body(shape); });
  } else {
    const WeightedSevenPoints shape{stencil.centre, stencil.weights[0], stencil.weights[1],
                                    stencil.weights[2]};
    perfmodel::on_widest_simd([&]() __attribute__((always_inline)) { body(shape); });
  }
}

}  // namespace weft::spmv
