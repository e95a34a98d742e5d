#pragma once

#include <cstddef>

#include "spmv/rows/distributed_matrix.h"

namespace weft::library {

/// Of a nonzero in CRS: value and column.
inline constexpr double bytes_per_nonzero = 12;

inline double nonzeros_in(const spmv::CrsMatrix& rows, spmv::LocalIndex begin,
                          spmv::LocalIndex end) {
  return static_cast<double>(rows.row_offsets[static_cast<std::size_t>(end)] -
                             rows.row_offsets[static_cast<std::size_t>(begin)]);
}

}  // namespace weft::library
