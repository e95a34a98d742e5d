#include "perfmodel/core_probes.h"

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "perfmodel/simd.h"

namespace weft::perfmodel {
namespace {

constexpr std::int64_t rounds_in_registers = 1 << 17;
constexpr std::int64_t passes_in_cache = 1 << 11;
constexpr std::int64_t buffer_elements = core_probe_buffer - 8;
/// Operations in a turn of a loop.
constexpr std::size_t turn = 16;

/// Registers of one size; with sizes that depend on a parameter GCC forgets the attribute.
struct Scalar {
  using Double = double;
  using Word = std::int64_t;
};
struct Vector16 {
  using Double = double __attribute__((vector_size(16)));
  using Word = std::int64_t __attribute__((vector_size(16)));
};
struct Vector32 {
  using Double = double __attribute__((vector_size(32)));
  using Word = std::int64_t __attribute__((vector_size(32)));
};
struct Vector64 {
  using Double = double __attribute__((vector_size(64)));
  using Word = std::int64_t __attribute__((vector_size(64)));
};

/// Makes the compiler compute `value` in a register, here, and know nothing about it afterwards.
template <class Register>
[[gnu::always_inline]] inline void hold(Register& value) {
#if defined(__x86_64__)
  asm volatile("" : "+v"(value));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(value));
#else
  asm volatile("" : "+m"(value));
#endif
}
[[gnu::always_inline]] inline void hold(std::int64_t& value) { asm volatile("" : "+r"(value)); }

template <class Register>
[[gnu::always_inline]] inline void hold_loaded(const double* place) {
  Register value;
  std::memcpy(&value, place, sizeof value);
  hold(value);
}

/// The elements in reverse order.
template <class Register>
[[gnu::always_inline]] inline void reverse(const Register& value, Register& reversed) {
  if constexpr (sizeof(Register) == 64)
    reversed = __builtin_shufflevector(value, value, 7, 6, 5, 4, 3, 2, 1, 0);
  else if constexpr (sizeof(Register) == 32)
    reversed = __builtin_shufflevector(value, value, 3, 2, 1, 0);
  else
    reversed = __builtin_shufflevector(value, value, 1, 0);
}

/// Calls step(number as a constant) for all numbers of a turn, again and again; returns the number
/// of calls.
template <class Step, std::size_t... number>
[[gnu::always_inline]] inline std::int64_t run_turns(const Step& step,
                                                     std::index_sequence<number...>) {
  for (std::int64_t round = 0; round < rounds_in_registers; ++round)
    (step(std::integral_constant<std::size_t, number>{}), ...);
  return rounds_in_registers * std::int64_t{sizeof...(number)};
}

/// Calls step(place, number) for all places of `stride` doubles, again and again; returns the
/// number of calls.
template <std::int64_t stride, class Step, std::size_t... number>
[[gnu::always_inline]] inline std::int64_t run_places(double* buffer, const Step& step,
                                                      std::index_sequence<number...>) {
  constexpr std::int64_t turn_elements = stride * std::int64_t{sizeof...(number)};
  for (std::int64_t pass = 0; pass < passes_in_cache; ++pass) {
    for (double* place = buffer; place < buffer + buffer_elements; place += turn_elements)
      (step(place + stride * static_cast<std::int64_t>(number),
            std::integral_constant<std::size_t, number>{}),
       ...);
    asm volatile("" ::: "memory");
  }
  return passes_in_cache * (buffer_elements / stride);
}

/// Loads and stores of registers; returns how many.
template <class Kind>
[[gnu::always_inline]] inline std::int64_t run_on_cache(CoreProbe probe, double* buffer) {
  using Register = typename Kind::Double;
  constexpr std::int64_t stride = sizeof(Register) / sizeof(double);
  constexpr auto numbers = std::make_index_sequence<turn>();
  if (probe == CoreProbe::stores) {
    Register one = Register{} + 1.0;
    hold(one);
    const auto store = [&](double* place, auto)
                           __attribute__((always_inline)) { std::memcpy(place, &one, sizeof one); };
    return run_places<stride>(buffer, store, numbers);
  }
  const auto load = [](const double* place, auto number) __attribute__((always_inline)) {
    // A product takes two doubles and an integer for each nonzero.
    if constexpr (std::is_same_v<Kind, Scalar> && number % 3 == 2)
      hold_loaded<std::int64_t>(place);
    else
      hold_loaded<Register>(place);
  };
  return run_places<stride>(probe == CoreProbe::loads ? buffer : buffer + 1, load, numbers);
}

/// Operations on registers; returns how many. But for the chain, none waits for another: `hold`
/// makes the operand look new.
template <class Kind>
[[gnu::always_inline]] inline std::int64_t run_on_registers(CoreProbe probe) {
  using Register = typename Kind::Double;
  using Word = typename Kind::Word;
  using Shuffled = std::conditional_t<std::is_same_v<Kind, Scalar>, Vector16, Kind>;
  constexpr auto numbers = std::make_index_sequence<turn>();
  Register one = Register{} + 1.0;
  Word word = Word{} + 1;
  typename Shuffled::Double elements{};
  const auto add = [&](auto) __attribute__((always_inline)) {
    hold(one);
    Register sum = one + one;
    hold(sum);
  };
  const auto multiply = [&](auto) __attribute__((always_inline)) {
    hold(one);
    Register product = one * one;
    hold(product);
  };
  const auto both = [&](auto number) __attribute__((always_inline)) {
    if constexpr (number % 2 == 0)
      add(number);
    else
      multiply(number);
  };
  const auto add_words = [&](auto) __attribute__((always_inline)) {
    hold(word);
    Word sum = word + word;
    hold(sum);
  };
  const auto shuffle = [&](auto) __attribute__((always_inline)) {
    hold(elements);
    typename Shuffled::Double reversed;
    reverse(elements, reversed);
    hold(reversed);
  };
  Register chain = one;
  const auto add_to_chain = [&](auto) __attribute__((always_inline)) {
    chain = chain + one;
    hold(chain);
  };
  if (probe == CoreProbe::additions) return run_turns(add, numbers);
  if (probe == CoreProbe::multiplications) return run_turns(multiply, numbers);
  if (probe == CoreProbe::arithmetic) return run_turns(both, numbers);
  if (probe == CoreProbe::integer_additions) return run_turns(add_words, numbers);
  if (probe == CoreProbe::shuffles) return run_turns(shuffle, numbers);
  return run_turns(add_to_chain, numbers);
}

/// Returns the number of operations.
template <class Kind>
[[gnu::always_inline]] inline double run_probe(CoreProbe probe, double* buffer) {
  constexpr double doubles = sizeof(typename Kind::Double) / sizeof(double);
  switch (probe) {
    case CoreProbe::loads:
    case CoreProbe::shifted_loads:
    case CoreProbe::stores:
      return doubles * static_cast<double>(run_on_cache<Kind>(probe, buffer));
    case CoreProbe::chained_additions:
      return static_cast<double>(run_on_registers<Kind>(probe));
    default:
      return doubles * static_cast<double>(run_on_registers<Kind>(probe));
  }
}

}  // namespace

std::size_t probe_vector_bytes() {
  int bytes = 0;
  on_widest_simd([&]<class Simd>()
                     __attribute__((always_inline)) { bytes = Simd::register_bytes; });
  return static_cast<std::size_t>(bytes);
}

double run_core_probe(CoreProbe probe, ProbeWidth width, double* buffer) {
  if (width == ProbeWidth::scalar) return run_probe<Scalar>(probe, buffer);
  double operations = 0;
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Kind =
        std::conditional_t<Simd::register_bytes == 64, Vector64,
                           std::conditional_t<Simd::register_bytes == 32, Vector32, Vector16>>;
    operations = run_probe<Kind>(probe, buffer);
  });
  return operations;
}

}  // namespace weft::perfmodel
