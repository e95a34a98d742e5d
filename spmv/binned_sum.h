#pragma once

#include <array>
#include <cmath>

#include "comm_thread/exact_accumulator.h"
#include "perfmodel/simd.h"

namespace weft::spmv {

/// Sums doubles, eight at a time, so that the result does not depend on their order.
///
/// Every addend is cut into pieces that are multiples of 2⁻²⁶, 2⁻⁵², 2⁻⁷⁸ and 2⁻¹⁰⁴ of `bound`;
/// pieces of one kind add up without rounding, in any order. What is smaller still is dropped, from
/// each addend alike wherever it is added. 13 flops an addend: nothing beside a pass through
/// memory, where ExactAccumulator::add for each would be a hundred times as much.
///
/// Shape: addends are at most about `bound`, at most 2²⁵ of them per lane between two `flush`.
/// Source: Demmel and Nguyen 2015, "Parallel reproducible summation" (bins at fixed places).
class BinnedSum {
 public:
  explicit BinnedSum(double bound) {
    int exponent = 0;
    std::frexp(bound, &exponent);
    for (double& shift : shifts_) {
      exponent -= 26;
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

  /// Adds the sum so far to `total`, without rounding, and begins again.
  void flush(comm_thread::ExactAccumulator& total) {
    for (perfmodel::Lane8& bin : bins_) {
      for (int lane = 0; lane < 8; ++lane) total.add(bin[lane]);
      bin = perfmodel::Lane8{};
    }
  }

 private:
  static constexpr std::size_t bin_count = 4;
  std::array<double, bin_count> shifts_{};  // 1.5·2⁵² times the multiple of the bin
  std::array<perfmodel::Lane8, bin_count> bins_{};
};

}  // namespace weft::spmv
