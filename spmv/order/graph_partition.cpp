#include "spmv/order/graph_partition.h"

#include <metis.h>

#include <array>
#include <stdexcept>
#include <string>

namespace weft::spmv {

static_assert(sizeof(idx_t) == sizeof(std::int32_t));

std::vector<std::int32_t> partition_graph(RowGraph& graph, int part_count) {
  std::vector<std::int32_t> parts(static_cast<std::size_t>(graph.row_count()));
  if (part_count == 1 || parts.empty()) return parts;
  std::vector<idx_t> weights;
  for (std::size_t row = 0; row < parts.size(); ++row) weights.push_back(graph.degree(row) + 1);
  std::array<idx_t, METIS_NOPTIONS> options;
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_NUMBERING] = 0;
  idx_t row_count = graph.row_count();
  idx_t constraint_count = 1;
  idx_t wanted = part_count;
  idx_t cut = 0;
  const int outcome = METIS_PartGraphKway(
      &row_count, &constraint_count, graph.offsets.data(), graph.neighbours.data(), weights.data(),
      nullptr, nullptr, &wanted, nullptr, nullptr, options.data(), &cut, parts.data());
  if (outcome != METIS_OK)
    throw std::runtime_error("METIS_PartGraphKway failed with code " + std::to_string(outcome));
  return parts;
}

}  // namespace weft::spmv
