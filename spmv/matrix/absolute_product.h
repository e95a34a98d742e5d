#pragma once

#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// y_i = Σ_{j ≠ i} |a_ij|·x_j for rows begin … end-1, each summed in the order in which it is
/// stored.
///
/// Memory per nonzero: 12 bytes read. Per row: 8 bytes of row offset read, 8 of x read, 8 of y
/// written (16 with write-allocate). 2 flops per nonzero. Plain CRS: it is used for set-up only.
/// Shape: x: [row_count + halo_count], y: [row_count].
void multiply_absolute_off_diagonal(const CrsMatrix& matrix, LocalIndex begin, LocalIndex end,
                                    const double* x, double* y);

}  // namespace weft::spmv
