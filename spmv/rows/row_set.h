#pragma once

#include <cstdint>

namespace weft::spmv {

/// Rows by their need of the halo: `interior` rows have only columns of this rank, `boundary` rows
/// need the halo, `all` is both together.
enum class RowSet : std::uint8_t { all, interior, boundary };

}  // namespace weft::spmv
