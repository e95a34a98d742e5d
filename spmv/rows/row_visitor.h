#pragma once

#include <functional>
#include <span>

#include "spmv/rows/index.h"

namespace weft::spmv {

/// Is given one row: its columns, global and strictly ascending, and their values.
/// Lifetime: the spans end with the call.
using RowVisitor = std::function<void(GlobalIndex row, std::span<const GlobalIndex> columns,
                                      std::span<const double> values)>;

}  // namespace weft::spmv
