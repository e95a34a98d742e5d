#pragma once

#include <cstdint>

namespace weft::spmv {

/// Rows by what they need: `interior` rows have only columns of this rank, `boundary` rows wait for
/// the halo, `all` is both together.
enum class RowSet : std::uint8_t { all, interior, boundary };

}  // namespace weft::spmv
