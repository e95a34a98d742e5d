#pragma once

#include "spmv/matrix/numbered_values.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// y_i = Σ_j a_ij·x_j for rows begin … end-1, each summed in the order in which it is stored.
///
/// Memory per nonzero, of doubles: 12 bytes read. Per row: 8 bytes of row offset read, 8 of x read,
/// 8 of y written (16 with write-allocate). 2 flops per nonzero. `Value`: double.
/// Shape: x: [row_count + halo_count], y: [row_count].
template <class Value>
void multiply_crs(const CrsMatrixOf<Value>& matrix, LocalIndex begin, LocalIndex end,
                  const Value* x, Value* y);

/// The same with the same bits, for rows whose values are numbered: 6 bytes read per nonzero.
void multiply_numbered(const CrsMatrix& matrix, const NumberedValues& values, LocalIndex begin,
                       LocalIndex end, const double* x, double* y);

}  // namespace weft::spmv
