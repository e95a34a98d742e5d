#pragma once

#include <cstdint>

#include "perfmodel/simd.h"

namespace weft::spmv {

/// Partial sums of one row block in the one order that every dot product of weft uses.
///
/// Element i of a block goes to lane i mod 8 of accumulator (i / 8) mod 4; at the end
/// (0 + 1) + (2 + 3), then lanes 0–3 + lanes 4–7, then halves again. Four accumulators hide the
/// latency of the addition; the order depends on the length of the block only.
struct BlockSum {
  static constexpr std::int64_t stride = 32;
  perfmodel::Lane8 accumulators[4] = {};

  [[gnu::always_inline]] void add(std::int64_t i, double term) {
    accumulators[i / 8 % 4][i % 8] += term;
  }
  [[gnu::always_inline]] double total() const {
    const perfmodel::Lane8 lanes =
        (accumulators[0] + accumulators[1]) + (accumulators[2] + accumulators[3]);
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }
};

/// Σ a_i·b_i over one row block. Shape: both [count]; reads 16 bytes and does 2 flops an element.
double block_dot(const double* a, const double* b, std::int64_t count);

}  // namespace weft::spmv
