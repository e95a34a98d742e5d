#pragma once

#include <cstdint>

namespace weft::perfmodel {

/// Σ a_i: the probe that performance is compared with, for one thread's share of an array. Reads 8
/// bytes an element; the sum keeps the loads from being removed. Shape: a: [count].
double load_probe(const double* a, std::int64_t count);

}  // namespace weft::perfmodel
