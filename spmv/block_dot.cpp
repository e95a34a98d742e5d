#include "spmv/block_dot.h"

namespace weft::spmv {

double block_dot(const double* a, const double* b, std::int64_t count) {
  using perfmodel::Lane8Unaligned;
  double result = 0;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    BlockSum sum;
    std::int64_t i = 0;
    for (; i + BlockSum::stride <= count; i += BlockSum::stride)
      for (int j = 0; j < 4; ++j)
        sum.accumulators[j] += *reinterpret_cast<const Lane8Unaligned*>(a + i + 8 * j) *
                               *reinterpret_cast<const Lane8Unaligned*>(b + i + 8 * j);
    for (; i + 8 <= count; i += 8)
      sum.accumulators[i / 8 % 4] += *reinterpret_cast<const Lane8Unaligned*>(a + i) *
                                     *reinterpret_cast<const Lane8Unaligned*>(b + i);
    for (; i < count; ++i) sum.add(i, a[i] * b[i]);
    result = sum.total();
  });
  return result;
}

}  // namespace weft::spmv
