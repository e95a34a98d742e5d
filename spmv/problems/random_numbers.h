#pragma once

#include <cstdint>

#include "spmv/rows/index.h"
#include "spmv/rows/scramble.h"

namespace weft::spmv {

/// 64 random bits that depend on `seed` and `index` alone: no state, any order, any thread.
///
/// The output number `index` of SplitMix64 started at its first output for `seed`; equal seeds give
/// equal bits on every machine. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014, figure 17.
/// Inline, because generators call it several times per nonzero.
inline std::uint64_t random_bits(std::uint64_t seed, GlobalIndex index) {
  constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15;
  const std::uint64_t start = scramble(seed + golden_gamma);
  return scramble(start + (static_cast<std::uint64_t>(index) + 1) * golden_gamma);
}

/// A random number in [0, 1), a multiple of 2^-53: the upper 53 of the `random_bits`.
inline double uniform(std::uint64_t seed, GlobalIndex index) {
  return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

}  // namespace weft::spmv
