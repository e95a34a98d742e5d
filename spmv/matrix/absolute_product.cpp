#include "spmv/matrix/absolute_product.h"

#include <cmath>

namespace weft::spmv {

void multiply_absolute_off_diagonal(const CrsMatrix& matrix, LocalIndex begin, LocalIndex end,
                                    const double* x, double* y) {
  const std::int64_t* const offsets = matrix.row_offsets.data();
  const double* const values = matrix.values.data();
  const LocalIndex* const columns = matrix.columns.data();
  for (LocalIndex row = begin; row < end; ++row) {
    double sum = 0;
    for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k)
      if (columns[k] != row) sum += std::abs(values[k]) * x[columns[k]];
    y[row] = sum;
  }
}

}  // namespace weft::spmv
