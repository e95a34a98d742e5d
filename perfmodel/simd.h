#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "perfmodel/lanes.h"

namespace weft::perfmodel {

/// What a kernel is written with: the registers of the instruction set that its body is compiled
/// for. Sixteen values of float or eight of double fill a line of 64 bytes with any of them.
template <int bytes>
struct SimdOf {
  static constexpr int register_bytes = bytes;
  template <class T, int count>
  using Lanes = LanesOf<T, count, register_bytes>;
  using Lane8 = Lanes<double, 8>;
};

/// The registers of the instruction set that the whole program is compiled for.
#if defined(__AVX512F__)
using BaselineSimd = SimdOf<64>;
#elif defined(__AVX2__)
using BaselineSimd = SimdOf<32>;
#else
using BaselineSimd = SimdOf<16>;
#endif

/// Calls step<Value>(i) for i in [0, count): Value is Lane8 for full groups of eight, double for
/// the rest.
template <class Simd, class Step>
[[gnu::always_inline]] inline void for_lanes(std::ptrdiff_t count, const Step& step) {
  std::ptrdiff_t i = 0;
  for (; i + 8 <= count; i += 8) step.template operator()<typename Simd::Lane8>(i);
  for (; i < count; ++i) step.template operator()<double>(i);
}

/// Calls use(constant) for the constants 0 … count - 1, each of a type of its own: an array of
/// lanes stays in registers only where all its indices are constants from the beginning.
template <int count, class Use>
[[gnu::always_inline]] inline void unrolled(const Use& use) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (use(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, count>{});
}

/// Provides the elements one position before the current ones without loading values just stored:
/// such a load would wait for two stores.
template <class Lane8>
class ElementBefore {
 public:
  explicit ElementBefore(double first) : last_{} { last_.set(7, first); }

  /// The elements one position before `value`. Call it along the array, without gaps.
  [[gnu::always_inline]] Lane8 step(const Lane8& value) {
    const Lane8 before = Lane8::one_before(last_, value);
    last_ = value;
    return before;
  }
  [[gnu::always_inline]] double step(double value) {
    const double before = last_[7];
    last_.set(7, value);
    return before;
  }

 private:
  Lane8 last_;
};

/// Defined where the kernels are compiled for wider instruction sets, too, than the whole program.
/// A build that defines WEFT_ONE_INSTRUCTION_SET has none of these and compiles in less time; its
/// results are the same.
#if defined(__x86_64__) && !defined(WEFT_ONE_INSTRUCTION_SET)
  #define WEFT_CHOOSES_INSTRUCTION_SET
#endif

/// Instruction sets that kernels are compiled for, in ascending width. `baseline` is what the whole
/// program is compiled for: SSE2 where nothing else is asked for.
enum class SimdLevel { baseline, avx2, avx512 };

/// The widest one of this processor, or the one that WEFT_INSTRUCTION_SET names: avx512, avx2 or
/// sse2. A word that cannot be heeded is ignored here; `instruction_set_fault` says so.
SimdLevel simd_level();
const char* name(SimdLevel level);

/// What is wrong with WEFT_INSTRUCTION_SET: a word that is none of those, or that names what this
/// processor or this build does not have.
std::optional<std::string> instruction_set_fault();

/// Runs body<Simd>(), compiled for `simd_level()`, with Simd = SimdOf<bytes of its registers>.
///
/// `body` and everything it calls must be always_inline: it is compiled once per instruction set.
/// A body that leaves vectors to the compiler may be no template.
/// Multiplications and additions are never contracted, so all instruction sets give the same
/// results.
template <class Body>
void on_widest_simd(const Body& body);

template <class Simd, class Body>
[[gnu::always_inline]] inline void run_with(const Body& body) {
  if constexpr (requires { body.template operator()<Simd>(); })
    body.template operator()<Simd>();
  else
    body();
}
#if defined(WEFT_CHOOSES_INSTRUCTION_SET)
template <class Body>
[[gnu::target("arch=x86-64-v4")]] void run_with_avx512(const Body& body) {
  run_with<SimdOf<64>>(body);
}
template <class Body>
[[gnu::target("arch=x86-64-v3")]] void run_with_avx2(const Body& body) {
  run_with<SimdOf<32>>(body);
}
#endif

template <class Body>
void on_widest_simd(const Body& body) {
#if defined(WEFT_CHOOSES_INSTRUCTION_SET)
  if (simd_level() == SimdLevel::avx512) return run_with_avx512(body);
  if (simd_level() == SimdLevel::avx2) return run_with_avx2(body);
#endif
  run_with<BaselineSimd>(body);
}

}  // namespace weft::perfmodel
