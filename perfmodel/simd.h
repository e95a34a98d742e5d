#pragma once

#include <cstddef>

namespace weft::perfmodel {

/// Eight doubles: one AVX-512 register, two of AVX2, four of SSE2. The compiler splits the vector
/// for the target, so results do not depend on the processor.
using Lane8 = double __attribute__((vector_size(64)));
/// Eight adjacent elements of an array, at any address aligned for a double.
/// A packed struct rather than an alias with an `aligned` attribute: template arguments, and Clang
/// in other places too, drop the attribute of an alias.
struct [[gnu::packed, gnu::may_alias]] Lanes {
  Lane8 value;
};
/// One element, so that the remainder of a loop uses the same statements.
struct [[gnu::may_alias]] SingleLane {
  double value;
};

/// Eight elements of `array` to load or to store.
[[gnu::always_inline]] inline const Lanes& lanes(const double* array) {
  return *reinterpret_cast<const Lanes*>(array);
}
[[gnu::always_inline]] inline Lanes& lanes(double* array) {
  return *reinterpret_cast<Lanes*>(array);
}

/// One or eight elements at `place`: Elements is SingleLane or Lanes.
template <class Elements>
[[gnu::always_inline]] inline const Elements& elements(const double* place) {
  return *reinterpret_cast<const Elements*>(place);
}
template <class Elements>
[[gnu::always_inline]] inline Elements& elements(double* place) {
  return *reinterpret_cast<Elements*>(place);
}

/// Calls step<Elements>(i) for i in [0, count): Lanes for full groups of eight, SingleLane for the
/// rest.
template <class Step>
[[gnu::always_inline]] inline void for_lanes(std::ptrdiff_t count, const Step& step) {
  std::ptrdiff_t i = 0;
  for (; i + 8 <= count; i += 8) step.template operator()<Lanes>(i);
  for (; i < count; ++i) step.template operator()<SingleLane>(i);
}

/// A selection of lanes: all bits set, or none.
using Mask8 = long long __attribute__((vector_size(64)));
/// The bits of eight doubles, as integers.
using Words8 = unsigned long long __attribute__((vector_size(64)));

/// Provides the elements one position before the current ones without loading values just stored:
/// such a load would wait for two stores.
class ElementBefore {
 public:
  explicit ElementBefore(double first) { last_[7] = first; }

  /// `before`: the elements one position before `value`. Call it along the array, without gaps.
  [[gnu::always_inline]] void step(const Lane8& value, Lane8& before) {
    before = __builtin_shufflevector(last_, value, 7, 8, 9, 10, 11, 12, 13, 14);
    last_ = value;
  }
  [[gnu::always_inline]] void step(double value, double& before) {
    before = last_[7];
    last_[7] = value;
  }

 private:
  Lane8 last_{};
};

/// Defined where the kernels are compiled for wider instruction sets, too, than the whole program.
/// A build that defines WEFT_ONE_INSTRUCTION_SET has none of these and compiles in less time; its
/// results are the same.
#if defined(__x86_64__) && !defined(WEFT_ONE_INSTRUCTION_SET)
  #define WEFT_CHOOSES_INSTRUCTION_SET
#endif

/// Widest instruction set that this processor has and the kernels are compiled for.
enum class SimdLevel { baseline, avx2, avx512 };
SimdLevel simd_level();
const char* name(SimdLevel level);

/// Runs `body`, compiled for the widest instruction set of this processor.
///
/// `body` and everything it calls must be always_inline: it is compiled once per instruction set.
/// Multiplications and additions are never contracted, so all instruction sets give the same
/// results.
template <class Body>
void on_widest_simd(const Body& body);

#if defined(WEFT_CHOOSES_INSTRUCTION_SET)
template <class Body>
[[gnu::target("arch=x86-64-v4")]] void run_with_avx512(const Body& body) {
  body();
}
template <class Body>
[[gnu::target("arch=x86-64-v3")]] void run_with_avx2(const Body& body) {
  body();
}
#endif

template <class Body>
void on_widest_simd(const Body& body) {
#if defined(WEFT_CHOOSES_INSTRUCTION_SET)
  if (simd_level() == SimdLevel::avx512) return run_with_avx512(body);
  if (simd_level() == SimdLevel::avx2) return run_with_avx2(body);
#endif
  body();
}

}  // namespace weft::perfmodel
