#include "spmv/matrix/crs_kernel.h"

#include <cstdint>

#include "spmv/matrix/prefetch.h"

namespace weft::spmv {
void multiply_crs(const CrsMatrix& matrix, LocalIndex begin, LocalIndex end, const double* x,
                  double* y) {
  const std::int64_t* const offsets = matrix.row_offsets.data();
  const double* const values = matrix.values.data();
  const LocalIndex* const columns = matrix.columns.data();
  std::int64_t k = offsets[begin];
  for (LocalIndex row = begin; row < end; ++row) {
    const std::int64_t row_end = offsets[row + 1];
    double sum = 0;
    for (; k + 8 <= row_end; k += 8) {
      prefetch(values + k);
      prefetch(columns + k);
      for (int i = 0; i < 8; ++i) sum += values[k + i] * x[columns[k + i]];
    }
    prefetch(values + k);
    prefetch(columns + k);
    for (; k < row_end; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

}  // namespace weft::spmv
