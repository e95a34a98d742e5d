#pragma once

#include <cstdint>

namespace weft::perfmodel {

/// The probes that every performance figure is compared with, for one thread's share of an array.
/// Arrays: [count], 64-byte aligned.

/// Σ a_i: reads 8 bytes an element. The sum keeps the loads from being removed.
double load_probe(const double* a, std::int64_t count);

/// a_i = b_i: reads 8 bytes and writes 8 (16 with write-allocate).
void copy_probe(double* a, const double* b, std::int64_t count);

/// a_i = b_i + s·c_i: reads 16 bytes and writes 8 (16 with write-allocate).
void triad_probe(double* a, const double* b, double s, const double* c, std::int64_t count);

}  // namespace weft::perfmodel
