#pragma once

#include <cstdint>

namespace weft::solver {

/// One weighted Jacobi step on one row block, with r = b − A·x and p the values before x:
///
///     next = x + scale·r + momentum·(x − p)
///
/// `next` holds A·x at first, so that the product needs no vector of its own. `previous` is p; null
/// where there is no momentum. Returns r·r, summed in the order of spmv::BlockSum.
/// Reads b, scale, x, next, writes next: 40 bytes a row, of which those of next are in cache after
/// the product; 5 flops. With momentum 48 bytes and 8 flops. All arrays: [count].
double jacobi_step(const double* b, const double* scale, const double* x, const double* previous,
                   double momentum, double* next, std::int64_t count);

}  // namespace weft::solver
