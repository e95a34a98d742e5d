#pragma once

#include <cstddef>
#include <span>

namespace weft::spmv {

/// Puts the entries of several vectors together row by row, and takes them apart again.
///
///     3 vectors of 2 rows:   a0 a1 | b0 b1 | c0 c1     ◄──►     a0 b0 c0 | a1 b1 c1
///
/// Shape: vectors: [width] of [count]; block: [count · width]. Reads and writes 8 bytes an entry;
/// 8 × 8 entries at a time change places in registers where width is 8.
void interleave(std::span<const double* const> vectors, std::size_t count, double* block);
void separate(const double* block, std::size_t count, std::span<double* const> vectors);

}  // namespace weft::spmv
