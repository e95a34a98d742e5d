#pragma once

#include <cstdint>

namespace weft::perfmodel {

/// Returns Σ a_i over one thread's share of an array, added up in all passes, to measure the load
/// bandwidth. Reads 8 bytes per element; the sum keeps the loads from being removed.
/// Shape: a: [count].
double load_probe(const double* a, std::int64_t count, std::int64_t passes = 1);

}  // namespace weft::perfmodel
