#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace weft::comm_thread {

/// Sum of doubles without rounding: the result does not depend on the order of the additions.
///
/// A fixed-point number wide enough for every double: 68 words hold 32 bits each, so that words of
/// different accumulators can be added as plain integers. Adding costs 3 integer additions;
/// rounding happens once, to nearest even, in `rounded`.
/// Shape: `words` is [word_count]; all of it is added to merge two accumulators.
/// Source: Neal 2015, "Fast exact summation using small and large superaccumulators".
class ExactAccumulator {
 public:
  static constexpr std::size_t digit_count = 68;
  /// Digits, then the numbers of NaN, +Inf and -Inf that were added.
  static constexpr std::size_t word_count = digit_count + 3;

  void add(double value);
  void clear() { words_.fill(0); }

  /// Propagates carries, so that 2^31 normalised accumulators can be added.
  void normalise();

  /// Adds the words of another normalised accumulator.
  void add_words(std::span<const std::int64_t, word_count> words);

  std::span<const std::int64_t, word_count> words() const { return words_; }

  /// The sum, rounded once. Inf and NaN follow ordinary addition.
  double rounded() const;

 private:
  // Digit i has the weight 2^(32 i - 1074). Up to 2^30 values may be added between two `normalise`.
  std::array<std::int64_t, word_count> words_{};
};

}  // namespace weft::comm_thread
