#pragma once

#include <cstdint>
#include <vector>

#include "spmv/order/row_graph.h"

namespace weft::spmv {

/// The part, 0 … part_count − 1, that each row is in: parts of about equally many nonzeros with few
/// neighbours in others. By METIS_PartGraphKway with its default seed; the same for the same graph.
/// Throws std::runtime_error where METIS fails.
/// Source: Karypis, Kumar 1998, "Multilevel k-way partitioning scheme for irregular graphs".
std::vector<std::int32_t> partition_graph(RowGraph& graph, int part_count);

}  // namespace weft::spmv
