#pragma once

#include <cstdint>

namespace weft::spmv {

/// Numbers rows and columns of the whole matrix.
using GlobalIndex = std::int64_t;
/// Numbers rows and entries of x on one rank: own rows first, then the halo.
using LocalIndex = std::int32_t;

}  // namespace weft::spmv
