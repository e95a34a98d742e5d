#pragma once

#include <cstdint>

#include "perfmodel/simd.h"

namespace weft::spmv {

/// Σ term<Value>(i) over one row block, i in [0, count), in the one order that every dot product of
/// weft uses. Value is Lane8 for eight terms from i on, double for one.
///
/// Element i of a block goes to lane i mod 8 of accumulator (i / 8) mod 4; at the end
/// (0 + 1) + (2 + 3), then lanes 0–3 + lanes 4–7, then halves again. Four accumulators hide the
/// latency of the addition; the order depends on the length of the block only.
template <class Simd, class Term>
[[gnu::always_inline]] inline double block_sum(std::int64_t count, const Term& term) {
  using Lane8 = typename Simd::Lane8;
  Lane8 sum0{}, sum1{}, sum2{}, sum3{};
  const auto add = [&](std::int64_t i, const Lane8& terms) __attribute__((always_inline)) {
    switch (i / 8 % 4) {
      case 0:
        sum0 += terms;
        break;
      case 1:
        sum1 += terms;
        break;
      case 2:
        sum2 += terms;
        break;
      default:
        sum3 += terms;
    }
  };
  std::int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    sum0 += term.template operator()<Lane8>(i);
    sum1 += term.template operator()<Lane8>(i + 8);
    sum2 += term.template operator()<Lane8>(i + 16);
    sum3 += term.template operator()<Lane8>(i + 24);
  }
  for (; i + 8 <= count; i += 8) add(i, term.template operator()<Lane8>(i));
  if (i < count) {
    double rest[8] = {};
    for (std::int64_t k = i; k < count; ++k) rest[k - i] = term.template operator()<double>(k);
    add(i, perfmodel::load<Lane8>(rest));
  }
  return ((sum0 + sum1) + (sum2 + sum3)).sum();
}

/// Σ a_i·b_i over one row block. Shape: both [count]; reads 16 bytes and does 2 flops an element.
double block_dot(const double* a, const double* b, std::int64_t count);

}  // namespace weft::spmv
