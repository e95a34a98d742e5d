#pragma once

#include <cstddef>

#include "spmv/rows/distributed_matrix.h"

namespace weft::library {

/// Bytes of x per nonzero that a thread's product loads from memory again after they have fallen
/// out of its caches: the κ of the CRS code balance, by simulation.
///
/// The thread's streams (values, columns, y and x at the columns) run through a
/// least-recently-used cache of `cache_bytes`, on at most 8 million nonzeros from the middle of
/// its share; lines of x that come for the first time are not counted.
/// Source: Hager et al. 2011, "κ quantifies extra traffic for loading RHS more than once".
/// `width`: vectors that stand together row by row, of a product of several.
/// Thread: each of the team for itself.
double simulate_column_reload(const spmv::CrsMatrix& rows, spmv::LocalIndex begin,
                              spmv::LocalIndex end, const double* x, std::size_t cache_bytes,
                              int width = 1);

}  // namespace weft::library
