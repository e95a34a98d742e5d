#pragma once

#include "spmv/matrix/numbered_values.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Whether `multiply_crs_block` takes so many vectors at once: 2, 4, 8 or 16.
bool is_block_width(int width);

/// Y = A·X for `width` vectors at once and rows begin … end-1. The matrix is read once for all of
/// them; each vector's sums have the order, and so the bits, of multiply_crs.
///
///     X, 3 vectors a b c of 4 rows:   a0 b0 c0  a1 b1 c1  a2 b2 c2  a3 b3 c3      Y likewise
///
/// Memory per nonzero: 12 bytes read for all vectors. Per row and vector: 8 bytes of x read, 8 of
/// y written. 2 flops per nonzero and vector: registers hold an entry of every vector, so that
/// nothing is gathered.
/// Shape: x: [(row_count + halo_count) · width], 64-byte aligned; y: [(end - begin) · width], of
/// row `begin` first. `width`: is_block_width. `Value`: double.
template <class Value>
void multiply_crs_block(const CrsMatrixOf<Value>& matrix, LocalIndex begin, LocalIndex end,
                        int width, const Value* x, Value* y);

/// The same with the same bits, for rows whose values are numbered: 6 bytes read per nonzero.
void multiply_numbered_block(const CrsMatrix& matrix, const NumberedValues& values,
                             LocalIndex begin, LocalIndex end, int width, const double* x,
                             double* y);

}  // namespace weft::spmv
