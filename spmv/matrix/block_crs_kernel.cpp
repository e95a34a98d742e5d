#include "spmv/matrix/block_crs_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "perfmodel/simd.h"
#include "spmv/matrix/block_group.h"
#include "spmv/matrix/prefetch.h"
#include "spmv/matrix/stored_values.h"

namespace weft::spmv {
namespace {

/// Nonzeros ahead, whose entries of all vectors are fetched, which no hardware prefetcher foresees.
/// Holstein-Hubbard matrix of 514 800 rows, two threads, ms a vector: with 16 vectors none 0.68,
/// 32 ahead 0.62, 64 0.56, 128 0.51, 256 0.64; with 8 0.64, 0.63, 0.57, 0.55, 0.56. A line holds
/// those of several columns where there are fewer vectors: with 4 it took 0.69 instead of 0.63.
constexpr std::int64_t vectors_ahead = 128;
constexpr int fewest_fetched = 8;

/// Fetches the entries of all vectors in one column.
template <int width, class Value>
[[gnu::always_inline]] inline void fetch(const Value* x, LocalIndex column) {
  const Value* const entries = x + std::int64_t{column} * width;
  constexpr int line = 64 / static_cast<int>(sizeof(Value));
  for (int i = 0; i < width; i += line) __builtin_prefetch(entries + i, 0, 3);
}

template <class Simd, int width, class Values, class Value>
[[gnu::always_inline]] inline void multiply(const CrsMatrixOf<Value>& matrix, const Values& reader,
                                            LocalIndex begin, LocalIndex end, const Value* x,
                                            Value* y) {
  const Values values = reader;  // in registers
  const std::int64_t* const offsets = matrix.row_offsets.data();
  const LocalIndex* const columns = matrix.columns.data();
  using Lanes = typename Simd::template Lanes<Value, width>;  // one entry of each vector
  const std::int64_t last = offsets[matrix.row_count] - 1;
  std::int64_t k = offsets[begin];
  for (LocalIndex row = begin; row < end; ++row) {
    const std::int64_t row_end = offsets[row + 1];
    Lanes total{};
    for (; k + 8 <= row_end; k += 8) {
      values.prefetch_from(k);
      prefetch(columns + k);
      for (int i = 0; i < 8; ++i) {
        if constexpr (width >= fewest_fetched)
          fetch<width>(x, columns[std::min(k + i + vectors_ahead, last)]);
        total += values[k + i] * Lanes::load(x + std::int64_t{columns[k + i]} * width);
      }
    }
    values.prefetch_from(k);
    prefetch(columns + k);
    for (; k < row_end; ++k) {
      if constexpr (width >= fewest_fetched)
        fetch<width>(x, columns[std::min(k + vectors_ahead, last)]);
      total += values[k] * Lanes::load(x + std::int64_t{columns[k]} * width);
    }
    total.store(y + std::int64_t{row - begin} * width);
  }
}

template <class Values, class Value>
void multiply_block(const CrsMatrixOf<Value>& matrix, const Values& values, LocalIndex begin,
                    LocalIndex end, int width, const Value* x, Value* y) {
  perfmodel::on_widest_simd([&]<class Simd>() __attribute__((always_inline)) {
    with_width(width, [&]<int constant>() __attribute__((always_inline)) {
      multiply<Simd, constant>(matrix, values, begin, end, x, y);
    });
  });
}

}  // namespace

bool is_block_width(int width) { return width == 2 || width == 4 || width == 8 || width == 16; }

template <class Value>
void multiply_crs_block(const CrsMatrixOf<Value>& matrix, LocalIndex begin, LocalIndex end,
                        int width, const Value* x, Value* y) {
  multiply_block(matrix, StoredValues<Value>{matrix.values.data()}, begin, end, width, x, y);
}

void multiply_numbered_block(const CrsMatrix& matrix, const NumberedValues& values,
                             LocalIndex begin, LocalIndex end, int width, const double* x,
                             double* y) {
  multiply_block(matrix, values.reader(), begin, end, width, x, y);
}

template void multiply_crs_block(const CrsMatrix&, LocalIndex, LocalIndex, int, const double*,
                                 double*);

}  // namespace weft::spmv
