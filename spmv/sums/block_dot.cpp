#include "spmv/sums/block_dot.h"

namespace weft::spmv {

double block_dot(const double* a, const double* b, std::int64_t count) {
  using perfmodel::lanes;
  if (count == 1) return a[0] * b[0];  // rows of small matrices, the same bits
  double result = 0;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    BlockSum sum;
    std::int64_t i = 0;
    for (; i + BlockSum::stride <= count; i += BlockSum::stride)
      for (int j = 0; j < 4; ++j)
        sum.accumulators[j] += lanes(a + i + 8 * j).value * lanes(b + i + 8 * j).value;
    for (; i + 8 <= count; i += 8)
      sum.accumulators[i / 8 % 4] += lanes(a + i).value * lanes(b + i).value;
    for (; i < count; ++i) sum.add(i, a[i] * b[i]);
    result = sum.total();
  });
  return result;
}

}  // namespace weft::spmv
