#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "comm_thread/engine/exact_accumulator.h"
#include "perfmodel/simd.h"

namespace weft::spmv {

/// Sums doubles, eight at a time, so that the result does not depend on their order.
///
/// Every addend is cut into pieces at fixed binary places below `bound`: multiples of 2^-26·bound,
/// then of 2^-(26 + bits)·bound and so on. Smaller remainders are dropped, from each addend
/// alike wherever it is added. Pieces of one place add up without rounding, in any order. Adding a
/// large power of two (`shifts_`) rounds to the place, and leaves the piece as an integer in the
/// last bits: all but the first kind are summed as integers, beside the floating point units. 5
/// flops an addend and 3 for every bin more than two: nothing beside a pass through memory, where
/// ExactAccumulator::add for each would be a hundred times as much.
///
/// Shape: addends, and all of them together, are at most 2^25·bound, or the sum depends on their
/// order (FittedBound finds that out); at most 2^(63 - bits) additions a lane between two `carry`
/// or `flush`.
///
/// Aligned by hand: without AVX-512 in the target GCC aligns Lane8 to 16 bytes, and functions
/// compiled for AVX-512 would fault on heap objects.
///
/// Source: Demmel and Nguyen 2015, "Parallel reproducible summation" (bins at fixed places).
template <std::size_t bin_count, int bits>
class alignas(64) BinnedSumOf {
 public:
  /// Binary digits below the bound that are summed.
  static constexpr int digits = 26 + static_cast<int>(bin_count - 1) * bits;

  explicit BinnedSumOf(double bound) {
    int exponent = 0;
    if (std::isfinite(bound)) std::frexp(bound, &exponent);
    // Neither the largest shift nor the smallest place may leave the range of doubles.
    exponent = std::clamp(exponent - 26, -1074 + static_cast<int>(bin_count - 1) * bits, 970);
    for (std::size_t bin = 0; bin < bin_count; ++bin) {
      places_[bin] = std::ldexp(1.0, exponent);
      shifts_[bin] = std::ldexp(1.5, exponent + 52);
      exponent -= bits;
    }
  }

  [[gnu::always_inline]] void add(const perfmodel::Lane8& value) {
    const perfmodel::Lane8 piece = (value + shifts_[0]) - shifts_[0];
    sum_ += piece;
    perfmodel::Lane8 rest = value - piece;
    for (std::size_t bin = 1; bin < bin_count; ++bin) {
      const perfmodel::Lane8 shifted = rest + shifts_[bin];
      words_[bin] += reinterpret_cast<perfmodel::Words8>(shifted);
      rest -= shifted - shifts_[bin];
    }
    ++count_;
  }
  [[gnu::always_inline]] void add(double value) { add(perfmodel::Lane8{value}); }

  /// Makes room for more additions, without rounding.
  [[gnu::always_inline]] void carry() {
    for (std::size_t bin = bin_count - 1; bin > 0; --bin) {
      words_[bin] -= count_ * std::bit_cast<Word>(shifts_[bin]);
      const auto large = reinterpret_cast<perfmodel::Mask8>(words_[bin]) >> bits;
      words_[bin] -= reinterpret_cast<perfmodel::Words8>(large) << bits;
      if (bin == 1)
        sum_ += __builtin_convertvector(large, perfmodel::Lane8) * places_[0];
      else
        words_[bin - 1] += reinterpret_cast<perfmodel::Words8>(large);
    }
    count_ = 0;
  }

  /// Adds the sum so far to `total`, without rounding, and begins again.
  void flush(comm_thread::ExactAccumulator& total) {
    carry();
    for (int lane = 0; lane < 8; ++lane) total.add(sum_[lane]);
    sum_ = perfmodel::Lane8{};
    for (std::size_t bin = 1; bin < bin_count; ++bin) {
      for (int lane = 0; lane < 8; ++lane)
        total.add(places_[bin] * static_cast<double>(words_[bin][lane]));
      words_[bin] = perfmodel::Words8{};
    }
  }

 private:
  using Word = unsigned long long;  // an element of Words8

  std::array<double, bin_count> places_{};  // powers of two
  std::array<double, bin_count> shifts_{};  // 1.5·2⁵² times those
  perfmodel::Lane8 sum_{};  // of the pieces of the first bin
  std::array<perfmodel::Words8, bin_count>
      words_{};  // of what the additions left; the first unused
  Word count_ = 0;  // of additions since the last carry
};

/// 104 bits below a bound that may be far off; no carry before 2²⁴ additions.
using BinnedSum = BinnedSumOf<3, 39>;

/// 76 bits below a close bound, such as the last sum of a kind. Needs a carry every 2¹³ additions.
using CloseSum = BinnedSumOf<2, 50>;

}  // namespace weft::spmv
