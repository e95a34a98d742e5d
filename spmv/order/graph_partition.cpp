#include "spmv/order/graph_partition.h"

#include <malloc.h>
#include <metis.h>

#include <array>
#include <string>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {

static_assert(sizeof(idx_t) == sizeof(std::int32_t));

std::vector<std::int32_t> partition_graph(RowGraph& graph, int part_count, PartSize size) {
  std::vector<std::int32_t> parts(static_cast<std::size_t>(graph.row_count()));
  if (part_count < 2 || parts.empty()) return parts;
  std::vector<idx_t> weights;
  if (size == PartSize::nonzeros)
    for (std::size_t row = 0; row < parts.size(); ++row) weights.push_back(graph.degree(row) + 1);
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  if (size == PartSize::rows) options[METIS_OPTION_SEED] = 1;
  idx_t row_count = graph.row_count();
  idx_t constraint_count = 1;
  idx_t wanted = part_count;
  idx_t cut = 0;
  const int outcome = METIS_PartGraphKway(
      &row_count, &constraint_count, graph.offsets.data(), graph.neighbours.data(),
      weights.empty() ? nullptr : weights.data(), nullptr, nullptr, &wanted, nullptr, nullptr,
      options.data(), &cut, parts.data());
  if (outcome != METIS_OK)
    throw comm_thread::InputError(
        "METIS cannot cut the graph: METIS_PartGraphKway failed with code " +
        std::to_string(outcome));
  malloc_trim(0);  // otherwise the C library keeps much of what METIS has freed
  return parts;
}

std::string graph_partitioner_version() {
  return "METIS " + std::to_string(METIS_VER_MAJOR) + "." + std::to_string(METIS_VER_MINOR) + "." +
         std::to_string(METIS_VER_SUBMINOR);
}

}  // namespace weft::spmv
