#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spmv/order/row_graph.h"

namespace weft::spmv {

/// The quantity of which all parts of a graph get about as much.
enum class PartSize { nonzeros, rows };

/// Cuts the graph of a matrix into parts of about equal size with few neighbours in other parts;
/// returns the part, 0 … part_count − 1, of each row. The same for the same graph.
/// Throws comm_thread::InputError where METIS fails.
/// Source: Karypis, Kumar 1998, "Multilevel k-way partitioning scheme for irregular graphs".
std::vector<std::int32_t> partition_graph(RowGraph& graph, int part_count,
                                          PartSize size = PartSize::nonzeros);

/// The library that cuts graphs, with its version, "METIS 5.1.0"; "missing" in builds without it,
/// where partition_graph throws comm_thread::InputError.
std::string graph_partitioner_version();

/// False in builds without the library. Thread: any.
inline bool can_partition_graphs() { return graph_partitioner_version() != "missing"; }

}  // namespace weft::spmv
