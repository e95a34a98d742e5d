#include "perfmodel/bandwidth_kernels.h"

#include "perfmodel/simd.h"

namespace weft::perfmodel {

double load_probe(const double* a, std::int64_t count) {
  double result = 0;
  on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    using Lane8 = typename Simd::Lane8;
    Lane8 sums[4] = {};
    std::int64_t i = 0;
    for (; i + 32 <= count; i += 32)
      unrolled<4>([&](auto j)
                      __attribute__((always_inline)) { sums[j] += load<Lane8>(a + i + 8 * j); });
    const Lane8 sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int lane = 0; lane < 8; ++lane) result += sum[lane];
    for (; i < count; ++i) result += a[i];
  });
  return result;
}

}  // namespace weft::perfmodel
