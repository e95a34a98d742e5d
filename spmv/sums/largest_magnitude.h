#pragma once

#include <cstddef>
#include <type_traits>

#include "perfmodel/simd.h"

namespace weft::spmv {

/// The largest of |term<Value>(i)| for all i in [0, count) and of `largest`. Value is Lane8 for
/// eight terms from i on, double for one. A NaN is passed over, or, if `keeps_nan`, is the result
/// once there is one. The order does not count. A loop over single numbers waits for each maximum:
/// it took four times as long as reading the numbers from memory.
template <bool keeps_nan = false, class Term>
double largest_magnitude(std::ptrdiff_t count, const Term& term, double largest = 0) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Lane8 = typename Simd::Lane8;
    const auto note = [&](double magnitude) __attribute__((always_inline)) {
      if (magnitude > largest || (keeps_nan && magnitude != magnitude)) largest = magnitude;
    };
    Lane8 most(largest);
    Lane8 nan{};  // of lanes that met one
    perfmodel::for_lanes<Simd>(count,
                               [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
                                 const Value value = term.template operator()<Value>(i);
                                 if constexpr (std::is_same_v<Value, double>) {
                                   note(value < 0 ? -value : value);
                                 } else {
                                   const Lane8 magnitude = select(value > -value, value, -value);
                                   most = select(magnitude > most, magnitude, most);
                                   if constexpr (keeps_nan)
                                     nan = nan + select(value == value, Lane8{}, value);
                                 }
                               });
    for (int lane = 0; lane < 8; ++lane) {
      note(most[lane]);
      if (keeps_nan) note(nan[lane]);
    }
  });
  return largest;
}

}  // namespace weft::spmv
