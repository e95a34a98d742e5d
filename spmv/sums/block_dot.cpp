#include "spmv/sums/block_dot.h"

namespace weft::spmv {

double block_dot(const double* a, const double* b, std::int64_t count) {
  using perfmodel::load;
  if (count == 1) return a[0] * b[0];  // rows of small matrices, the same bits
  double result = 0;
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    result =
        block_sum<Simd>(count, [&]<class Value>(std::int64_t i) __attribute__((always_inline)) {
          return load<Value>(a + i) * load<Value>(b + i);
        });
  });
  return result;
}

}  // namespace weft::spmv
