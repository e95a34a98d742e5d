#pragma once

#include <cstdint>
#include <vector>

#include "spmv/order/row_graph.h"

namespace weft::spmv {

/// The new number of each row in the reverse Cuthill–McKee order, which keeps neighbours close
/// together: breadth first from a row at the rim of each connected part, rows with few neighbours
/// first, numbered from the end. It depends on the graph alone.
/// Memory: 16 bytes per row.
std::vector<std::int32_t> reverse_cuthill_mckee(const RowGraph& graph);

}  // namespace weft::spmv
