#pragma once

#include <array>
#include <cstddef>

#include "perfmodel/lanes.h"

namespace weft::perfmodel {

/// Exchanges rows and columns: entry j of row i becomes entry i of row j. Lanes::size rows.
///
/// In a register: pairs, then pairs of pairs, then halves. Rows of two halves make four squares of
/// half the size, each of which is transposed for itself:
///
///     [ A B ]    [ A' C' ]
///     [ C D ] -> [ B' D' ]
template <class Lanes, std::size_t count>
[[gnu::always_inline]] inline void transpose(std::array<Lanes, count>& a) {
  static_assert(Lanes::size == count);
  if constexpr (!std::is_same_v<Lanes, typename Lanes::Register>) {
    constexpr std::size_t half = count / 2;
    std::array<typename Lanes::Half, half> parts[2][2];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i) {
      parts[i / half][0][i % half] = a[i].low;
      parts[i / half][1][i % half] = a[i].high;
    }
    for (auto& row : parts)
      for (auto& part : row) transpose(part);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < count; ++i)
      a[i] = Lanes(parts[0][i / half][i % half], parts[1][i / half][i % half]);
  } else if constexpr (count == 8) {
    const auto exchange = [&](std::size_t i, std::size_t j,
                              auto step) __attribute__((always_inline)) {
      const auto x = a[i].v;
      const auto y = a[j].v;
      if constexpr (step == 1) {
        a[i].v = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
        a[j].v = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
      } else if constexpr (step == 2) {
        a[i].v = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
        a[j].v = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
      } else {
        a[i].v = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
        a[j].v = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
      }
    };
    for (std::size_t i = 0; i < 8; i += 2) exchange(i, i + 1, std::integral_constant<int, 1>{});
    for (const std::size_t i : std::array<std::size_t, 4>{0, 1, 4, 5})
      exchange(i, i + 2, std::integral_constant<int, 2>{});
    for (std::size_t i = 0; i < 4; ++i) exchange(i, i + 4, std::integral_constant<int, 4>{});
  } else if constexpr (count == 4) {
    const auto a0 = __builtin_shufflevector(a[0].v, a[1].v, 0, 4, 2, 6);
    const auto a1 = __builtin_shufflevector(a[0].v, a[1].v, 1, 5, 3, 7);
    const auto a2 = __builtin_shufflevector(a[2].v, a[3].v, 0, 4, 2, 6);
    const auto a3 = __builtin_shufflevector(a[2].v, a[3].v, 1, 5, 3, 7);
    a[0].v = __builtin_shufflevector(a0, a2, 0, 1, 4, 5);
    a[1].v = __builtin_shufflevector(a1, a3, 0, 1, 4, 5);
    a[2].v = __builtin_shufflevector(a0, a2, 2, 3, 6, 7);
    a[3].v = __builtin_shufflevector(a1, a3, 2, 3, 6, 7);
  } else {
    static_assert(count == 2);
    const auto a0 = __builtin_shufflevector(a[0].v, a[1].v, 0, 2);
    a[1].v = __builtin_shufflevector(a[0].v, a[1].v, 1, 3);
    a[0].v = a0;
  }
}

}  // namespace weft::perfmodel
