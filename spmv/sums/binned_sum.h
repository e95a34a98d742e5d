#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "comm_thread/engine/exact_accumulator.h"
#include "perfmodel/simd.h"

namespace weft::spmv {

/// Sums doubles so that the result does not depend on their order.
///
/// Every addend is cut into pieces at fixed binary places below `bound`: multiples of 2^-26·bound,
/// then of 2^-(26 + bits)·bound and so on. Smaller remainders are dropped, from each addend
/// alike wherever it is added. Pieces of one place add up without rounding, in any order.
///
/// The sum of the first bin begins at 1.5·2⁵²·place, so that an addition rounds the addend to the
/// place (or to a neighbouring one, when the sum has grown: then the rest is exact, too, and the
/// next bin takes it). In the other bins the same power of two is added to each rest and leaves the
/// piece as an integer in the last bits; these are summed as integers, beside the floating point
/// units. An addend takes `additions` floating additions: nothing beside a pass through memory,
/// where ExactAccumulator::add for each would be a hundred times as much.
///
/// This class keeps the sums between two passes; `In<Simd>` is the same in registers, and adds.
///
/// Shape: addends, and all of them together, are at most 2^25·bound, or the sum depends on their
/// order (FittedBound finds that out).
///
/// Source: Demmel and Nguyen 2015, "Parallel reproducible summation" (bins at fixed places).
template <std::size_t bin_count, int bits>
class alignas(64) BinnedSumOf {
  static_assert(bin_count == 2 || bin_count == 3);

 public:
  /// Binary digits below the bound that are summed.
  static constexpr int digits = 26 + static_cast<int>(bin_count - 1) * bits;
  /// Floating additions for each addend; beside them bin_count - 1 additions of integers.
  static constexpr int additions = 4 + 3 * (static_cast<int>(bin_count) - 2);

  explicit BinnedSumOf(double bound) {
    int exponent = 0;
    if (std::isfinite(bound)) std::frexp(bound, &exponent);
    // Neither the largest shift nor the smallest place may leave the range of doubles.
    exponent = std::clamp(exponent - 26, -1074 + static_cast<int>(bin_count - 1) * bits, 969);
    for (std::size_t bin = 0; bin < bin_count; ++bin) {
      places_[bin] = std::ldexp(1.0, exponent);
      shifts_[bin] = std::ldexp(1.5, exponent + 52);
      exponent -= bits;
    }
    sums_.fill(shifts_[0]);
  }

  template <class Simd>
  class In;

  /// Adds one number. A loop takes `In`, which is several times as fast.
  void add(double value) {
    In<perfmodel::BaselineSimd> local(*this);
    local.add(value);
    local.store(*this);
  }

  /// Adds the sum so far to `total`, without rounding, and begins again.
  void flush(comm_thread::ExactAccumulator& total) {
    for (double& sum : sums_) {
      total.add(sum - shifts_[0]);
      sum = shifts_[0];
    }
    for (std::size_t bin = 1; bin < bin_count; ++bin)
      for (long long& word : words_[bin - 1]) {
        total.add(places_[bin] * static_cast<double>(word));
        word = 0;
      }
  }

 private:
  static constexpr std::size_t lane_count = 8;

  std::array<double, bin_count> places_{};  // powers of two
  std::array<double, bin_count> shifts_{};  // 1.5·2⁵² times those
  // One lane for each of a register, which may have fewer than there is room for.
  alignas(64) std::array<double, lane_count> sums_{};  // of the first bin, and its shift
  alignas(64) std::array<std::array<long long, lane_count>,
                         bin_count - 1> words_{};  // of the other bins, in their places; small, as
                                                   // `carry` leaves them
};

/// A BinnedSumOf in registers of `Simd`.
///
/// Construct it from a sum, add, and `store` it back, all within one body of `on_widest_simd`. The
/// sum has no use meanwhile. All halves of eight lanes go into one register: there are only sixteen
/// of AVX2, and the order of addends does not count.
template <std::size_t bin_count, int bits>
template <class Simd>
class BinnedSumOf<bin_count, bits>::In {
 public:
  /// Addends, counted in elements, between two carries at most.
  static constexpr std::ptrdiff_t elements_between_carries =
      ((std::ptrdiff_t{1} << (63 - bits)) - 16) * (Simd::register_bytes / 8);

  [[gnu::always_inline]] explicit In(const BinnedSumOf& from)
      : sum_(perfmodel::load<Register>(from.sums_.data())),
        place_(from.places_[0]),
        shift_(from.shifts_[1]),
        word_(perfmodel::load<SignedWords>(from.words_[0].data()).template bits_as<Word>()) {
    if constexpr (bin_count == 3) {
      last_shift_ = from.shifts_[2];
      last_word_ = perfmodel::load<SignedWords>(from.words_[1].data()).template bits_as<Word>();
    }
  }
  /// Writes the sum so far to where it came from.
  [[gnu::always_inline]] void store(BinnedSumOf& to) {
    carry();
    perfmodel::store(to.sums_.data(), sum_);
    perfmodel::store(to.words_[0].data(), word_.template bits_as<long long>());
    if constexpr (bin_count == 3)
      perfmodel::store(to.words_[1].data(), last_word_.template bits_as<long long>());
  }

  [[gnu::always_inline]] void add(const typename Simd::Lane8& value) {
    value.for_each_register([&](const Register& part)
                                __attribute__((always_inline)) { add_register(part); });
  }
  [[gnu::always_inline]] void add(double value) {
    Register one{};
    one.set(0, value);
    add_register(one);
  }

  /// Carries where `elements` more addends would be too many.
  [[gnu::always_inline]] void make_room(std::ptrdiff_t elements) {
    if (static_cast<std::ptrdiff_t>(count_) * register_size + elements > elements_between_carries)
      carry();
  }

  /// Makes room for more additions, without rounding.
  [[gnu::always_inline]] void carry() {
    if constexpr (bin_count == 3) word_ = word_ + take_carry(last_word_, last_shift_);
    // A small integer in the last bits of 1.5·2⁵² is that integer as a double.
    const double magic = 0x1.8p52;
    const Words large = take_carry(word_, shift_) + std::bit_cast<Word>(magic);
    sum_ = sum_ + (large.template bits_as<double>() - magic) * place_;
    count_ = 0;
  }

 private:
  using Register = typename Simd::Lane8::Register;
  static constexpr std::ptrdiff_t register_size = Register::size;
  using Word = unsigned long long;
  using Words = typename Register::template Like<Word>;
  using SignedWords = typename Register::template Like<long long>;

  [[gnu::always_inline]] void add_register(const Register& value) {
    const Register next = sum_ + value;
    Register rest = value - (next - sum_);
    sum_ = next;
    Register shifted = rest + shift_;
    word_ = word_ + shifted.template bits_as<Word>();
    if constexpr (bin_count == 3) {
      rest = rest - (shifted - shift_);
      shifted = rest + last_shift_;
      last_word_ = last_word_ + shifted.template bits_as<Word>();
    }
    ++count_;
  }

  /// Takes the shifts that were added with the pieces out of `words`, and what they have beyond
  /// `bits` binary digits, which it returns.
  [[gnu::always_inline]] Words take_carry(Words& words, double shift) const {
    words = words - count_ * std::bit_cast<Word>(shift);
    // This shifts signed integers, for which AVX2 has no instruction.
    const Word sign = Word{1} << 63;
    const Words large = ((words + sign) >> bits) - (sign >> bits);
    words = words - (large << bits);
    return large;
  }

  Register sum_;
  double place_;
  double shift_;
  Words word_;
  double last_shift_ = 0;
  Words last_word_{};
  Word count_ = 0;  // of additions since the last carry
};

/// Calls step<Value>(i) for i in [0, count), as for_lanes. `sums`: those to which it adds, one
/// addend an element; they carry as often as they must.
template <class Simd, class Step, class... Sums>
[[gnu::always_inline]] inline void for_lanes_of_sums(std::ptrdiff_t count, const Step& step,
                                                     Sums&... sums) {
  constexpr std::ptrdiff_t most = std::min({Sums::elements_between_carries...}) / 8 * 8;
  for (std::ptrdiff_t begin = 0; begin < count; begin += most) {
    const std::ptrdiff_t piece = std::min(most, count - begin);
    (sums.make_room(piece), ...);
    perfmodel::for_lanes<Simd>(
        piece, [&]<class Value>(std::ptrdiff_t i)
                   __attribute__((always_inline)) { step.template operator()<Value>(begin + i); });
  }
}

/// Adds term<Value>(i) for all i in [0, count) to `sum`. Value is Lane8 for eight terms, else
/// double.
template <class Sum, class Term>
void add_terms(Sum& sum, std::ptrdiff_t count, const Term& term) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    typename Sum::template In<Simd> local(sum);
    const auto step = [&]<class Value>(std::ptrdiff_t i) __attribute__((always_inline)) {
      local.add(term.template operator()<Value>(i));
    };
    for_lanes_of_sums<Simd>(count, step, local);
    local.store(sum);
  });
}

/// 104 bits below a bound that may be far off; no carry before 2²⁴ additions a lane.
using BinnedSum = BinnedSumOf<3, 39>;

/// 76 bits below a close bound, such as the last sum of a kind. Needs a carry every 2¹³ additions a
/// lane.
using CloseSum = BinnedSumOf<2, 50>;

}  // namespace weft::spmv
