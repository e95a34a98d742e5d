// Replaces graph_partition.cpp in builds without METIS.
#include "comm_thread/mpi/input_error.h"
#include "spmv/order/graph_partition.h"

namespace weft::spmv {

std::vector<std::int32_t> partition_graph(RowGraph& graph, int part_count, PartSize /*size*/) {
  if (part_count >= 2 && graph.row_count() > 0)
    throw comm_thread::InputError(
        "partition metis: this build has no METIS; expected a build with -DWEFT_WITH_METIS=ON, or "
        "partition rows or nonzeros");
  return std::vector<std::int32_t>(static_cast<std::size_t>(graph.row_count()));
}

std::string graph_partitioner_version() { return "missing"; }

}  // namespace weft::spmv
