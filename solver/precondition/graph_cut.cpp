#include "solver/precondition/graph_cut.h"

#include <metis.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {

std::vector<int> cut_rows(const spmv::CrsMatrix& rows, int part_count) {
  const auto row_count = static_cast<std::size_t>(rows.row_count);
  std::vector<int> parts(row_count);
  if (part_count < 2 || row_count < 2) return parts;
  std::vector<std::vector<idx_t>> neighbours(row_count);
  std::int64_t edge_count = 0;
  for (std::size_t row = 0; row < row_count; ++row)
    for (auto i = rows.row_offsets[row]; i < rows.row_offsets[row + 1]; ++i) {
      const spmv::LocalIndex column = rows.columns[static_cast<std::size_t>(i)];
      const auto other = static_cast<std::size_t>(column);
      if (column >= rows.row_count || other == row) continue;
      neighbours[row].push_back(column);
      neighbours[other].push_back(static_cast<idx_t>(row));
    }
  for (std::vector<idx_t>& list : neighbours) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
    edge_count += std::ssize(list);
  }
  if (edge_count > std::numeric_limits<idx_t>::max())
    throw comm_thread::InputError(
        "schwarz: a rank has more entries than METIS can number; expected more ranks");
  std::vector<idx_t> offsets{0};
  std::vector<idx_t> edges;
  for (const std::vector<idx_t>& list : neighbours) {
    edges.insert(edges.end(), list.begin(), list.end());
    offsets.push_back(static_cast<idx_t>(edges.size()));
  }
  std::vector<idx_t> options(METIS_NOPTIONS);
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  auto vertices = static_cast<idx_t>(row_count);
  idx_t constraints = 1;
  idx_t wanted = part_count;
  idx_t cut = 0;
  std::vector<idx_t> found(row_count);
  const int status =
      METIS_PartGraphKway(&vertices, &constraints, offsets.data(), edges.data(), nullptr, nullptr,
                          nullptr, &wanted, nullptr, nullptr, options.data(), &cut, found.data());
  if (status != METIS_OK)
    throw comm_thread::InputError("schwarz: METIS cannot cut the graph; expected partition=rows");
  std::ranges::copy(found, parts.begin());
  return parts;
}

}  // namespace weft::solver
