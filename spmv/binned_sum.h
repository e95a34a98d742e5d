#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "comm_thread/exact_accumulator.h"
#include "perfmodel/simd.h"

namespace weft::spmv {

/// Sums doubles, eight at a time, so that the result does not depend on their order.
///
/// Every addend is cut into pieces at fixed binary places below `bound`: multiples of
/// 2^-bits·bound, 2^-2·bits·bound and so on. Pieces of one kind add up without rounding, in any
/// order. What is smaller still is dropped, from each addend alike wherever it is added. 3 or 4
/// flops an addend and bin: nothing beside a pass through memory, where ExactAccumulator::add for
/// each would be a hundred times as much.
///
/// Shape: addends, and all of them together, are at most 2^(51 - bits)·bound; at most 2^(51 - bits)
/// additions a lane between two `carry` or `flush`.
/// Aligned by hand: without AVX-512 in the target GCC takes Lane8 to want 16 bytes, and on the heap
/// the functions that are compiled for it would fault.
/// Source: Demmel and Nguyen 2015, "Parallel reproducible summation" (bins at fixed places).
template <std::size_t bin_count, int bits>
class alignas(64) BinnedSumOf {
 public:
  explicit BinnedSumOf(double bound) {
    int exponent = 0;
    std::frexp(bound, &exponent);
    for (double& shift : shifts_) {
      exponent -= bits;
      shift = std::ldexp(1.5, exponent + 52);
    }
  }

  [[gnu::always_inline]] void add(const perfmodel::Lane8& value) {
    perfmodel::Lane8 rest = value;
    for (std::size_t bin = 0; bin < bin_count; ++bin) {
      const perfmodel::Lane8 piece = (rest + shifts_[bin]) - shifts_[bin];
      bins_[bin] += piece;
      rest -= piece;
    }
  }
  [[gnu::always_inline]] void add(double value) { add(perfmodel::Lane8{value}); }

  /// Makes room for more additions, without rounding.
  [[gnu::always_inline]] void carry() {
    for (std::size_t bin = bin_count - 1; bin > 0; --bin) {
      const perfmodel::Lane8 large = (bins_[bin] + shifts_[bin - 1]) - shifts_[bin - 1];
      bins_[bin - 1] += large;
      bins_[bin] -= large;
    }
  }

  /// Adds the sum so far to `total`, without rounding, and begins again.
  void flush(comm_thread::ExactAccumulator& total) {
    for (perfmodel::Lane8& bin : bins_) {
      for (int lane = 0; lane < 8; ++lane) total.add(bin[lane]);
      bin = perfmodel::Lane8{};
    }
  }

 private:
  std::array<double, bin_count> shifts_{};  // 1.5·2⁵² times the multiple of the bin
  std::array<perfmodel::Lane8, bin_count> bins_{};
};

/// 104 bits below a bound that may be far off; no carry before 2²⁵ additions.
using BinnedSum = BinnedSumOf<4, 26>;

/// 76 bits below a close bound, such as the last sum of a kind: half the work. Wants a carry every
/// 2¹³ additions.
using CloseSum = BinnedSumOf<2, 38>;

}  // namespace weft::spmv
