#include "comm_thread/engine/exact_accumulator.h"

#include <bit>
#include <cmath>
#include <limits>

namespace weft::comm_thread {
namespace {

constexpr std::size_t digit_count = ExactAccumulator::digit_count;
constexpr std::size_t nan_word = digit_count;
constexpr std::size_t plus_infinity_word = digit_count + 1;
constexpr std::size_t minus_infinity_word = digit_count + 2;
constexpr std::int64_t digit_mask = 0xffffffff;
constexpr int lowest_exponent = -1074;

using Words = std::array<std::int64_t, ExactAccumulator::word_count>;

void pass_carries(Words& words) {
  for (std::size_t i = 0; i + 1 < digit_count; ++i) {
    words[i + 1] += words[i] >> 32;
    words[i] &= digit_mask;
  }
}

/// Magnitude of normalised, non-negative digits, rounded to nearest even.
double round_magnitude(const Words& digits) {
  std::size_t top = digit_count - 1;
  while (top > 0 && digits[top] == 0) --top;
  if (top < 2) {  // below 2^(96 - 1074): gather all three digits, they are exact in the end
    top = 2;
  }
  const auto digit = [&](std::size_t i) { return static_cast<std::uint64_t>(digits[i]); };
  // The 64 leading bits of the top three digits; lower bits are folded into the last one as
  // "sticky".
  std::uint64_t high = digit(top) << 32 | digit(top - 1);
  std::uint64_t low = digit(top - 2);
  int exponent = lowest_exponent + 32 * static_cast<int>(top - 1);
  if (high == 0) return std::ldexp(static_cast<double>(low), lowest_exponent);
  const int lead = std::countl_zero(high);
  if (lead >= 32) {
    high = high << 32 | low;
    low = 0;
    exponent -= 32;
  }
  const int shift = std::countl_zero(high);
  if (shift > 0) {
    high = high << shift | (shift <= 32 ? low >> (32 - shift) : 0);
    low = shift < 32 ? low & ((std::uint64_t{1} << (32 - shift)) - 1) : 0;
    exponent -= shift;
  }
  bool sticky = low != 0;
  for (std::size_t i = 0; i + 2 < top; ++i) sticky = sticky || digits[i] != 0;
  return std::ldexp(static_cast<double>(high | (sticky ? 1U : 0U)), exponent);
}

}  // namespace

void ExactAccumulator::add(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t exponent = bits >> 52 & 0x7ff;
  const std::uint64_t fraction = bits & 0xfffffffffffff;
  const std::int64_t sign = bits >> 63 ? -1 : 1;
  if (exponent == 0x7ff) {
    ++words_[fraction ? nan_word : sign > 0 ? plus_infinity_word : minus_infinity_word];
    return;
  }
  const std::uint64_t mantissa = exponent ? fraction | std::uint64_t{1} << 52 : fraction;
  const std::uint64_t shift = exponent ? exponent - 1 : 0;
  const std::size_t digit = shift / 32;
  const auto wide = static_cast<unsigned __int128>(mantissa) << shift % 32;
  words_[digit] += sign * static_cast<std::int64_t>(wide & 0xffffffff);
  words_[digit + 1] += sign * static_cast<std::int64_t>(wide >> 32 & 0xffffffff);
  words_[digit + 2] += sign * static_cast<std::int64_t>(wide >> 64);
}

void ExactAccumulator::normalise() { pass_carries(words_); }

void ExactAccumulator::add_words(std::span<const std::int64_t, word_count> words) {
  for (std::size_t i = 0; i < word_count; ++i) words_[i] += words[i];
}

double ExactAccumulator::rounded() const {
  const bool plus = words_[plus_infinity_word] > 0;
  const bool minus = words_[minus_infinity_word] > 0;
  if (words_[nan_word] > 0 || (plus && minus)) return std::numeric_limits<double>::quiet_NaN();
  if (plus) return std::numeric_limits<double>::infinity();
  if (minus) return -std::numeric_limits<double>::infinity();

  Words digits = words_;
  pass_carries(digits);
  const bool negative = digits[digit_count - 1] < 0;
  if (negative) {
    for (std::size_t i = 0; i < digit_count; ++i) digits[i] = -digits[i];
    pass_carries(digits);
  }
  const double magnitude = round_magnitude(digits);
  return negative ? -magnitude : magnitude;
}

}  // namespace weft::comm_thread
