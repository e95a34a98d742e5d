#include "perfmodel/bandwidth_kernels.h"

#include "perfmodel/simd.h"

namespace weft::perfmodel {

double load_probe(const double* array, std::int64_t size, std::int64_t passes) {
  double result = 0;
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Register = typename Simd::Lane8::Register;
    // Additions of 4 cycles keep up with two loads a cycle in eight registers, of which there are
    // sixteen without AVX-512.
    constexpr int sum_count = 8;
    constexpr int loads_in_turn = 16;
    constexpr std::int64_t turn = loads_in_turn * Register::size;
    const double* const a = array;
    const std::int64_t count = size;
    const std::int64_t pass_count = passes;
    Register sums[sum_count] = {};
    double rest = 0;
    for (std::int64_t pass = 0; pass < pass_count; ++pass) {
      std::int64_t i = 0;
      for (; i + turn <= count; i += turn)
        unrolled<loads_in_turn>([&](auto j) __attribute__((always_inline)) {
          Register& sum = sums[j % sum_count];
          sum = sum + load<Register>(a + i + j * Register::size);
        });
      for (; i < count; ++i) rest += a[i];
      asm volatile("" ::: "memory");  // or one pass would do for all
    }
    Register sum(0.0);
    unrolled<sum_count>([&](auto j) __attribute__((always_inline)) { sum = sum + sums[j]; });
    result = sum.sum() + rest;
  });
  return result;
}

}  // namespace weft::perfmodel
