#include "spmv/matrix/block_crs_kernel.h"

#include <cstddef>
#include <cstdint>

#include "perfmodel/simd.h"
#include "spmv/matrix/block_group.h"
#include "spmv/matrix/prefetch.h"

namespace weft::spmv {
namespace {

template <class Simd, int width, class Value>
[[gnu::always_inline]] inline void multiply(const CrsMatrixOf<Value>& matrix, LocalIndex begin,
                                            LocalIndex end, const Value* x, Value* y) {
  const std::int64_t* const offsets = matrix.row_offsets.data();
  const Value* const values = matrix.values.data();
  const LocalIndex* const columns = matrix.columns.data();
  using Lanes = typename Simd::template Lanes<Value, width>;  // one entry of each vector
  std::int64_t k = offsets[begin];
  for (LocalIndex row = begin; row < end; ++row) {
    const std::int64_t row_end = offsets[row + 1];
    Lanes total{};
    for (; k + 8 <= row_end; k += 8) {
      prefetch(values + k);
      prefetch(columns + k);
      for (int i = 0; i < 8; ++i)
        total += values[k + i] * Lanes::load(x + std::int64_t{columns[k + i]} * width);
    }
    prefetch(values + k);
    prefetch(columns + k);
    for (; k < row_end; ++k) total += values[k] * Lanes::load(x + std::int64_t{columns[k]} * width);
    total.store(y + std::int64_t{row - begin} * width);
  }
}

}  // namespace

bool is_block_width(int width) { return width == 2 || width == 4 || width == 8; }

template <class Value>
void multiply_crs_block(const CrsMatrixOf<Value>& matrix, LocalIndex begin, LocalIndex end,
                        int width, const Value* x, Value* y) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    with_width(width, [&]<int constant>() __attribute__((always_inline)) {
      multiply<Simd, constant>(matrix, begin, end, x, y);
    });
  });
}

template void multiply_crs_block(const CrsMatrix&, LocalIndex, LocalIndex, int, const double*,
                                 double*);

}  // namespace weft::spmv
