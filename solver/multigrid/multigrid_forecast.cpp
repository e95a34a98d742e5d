#include "solver/multigrid/multigrid_forecast.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/rows/index.h"

namespace weft::solver {
namespace {

/// Bytes of one array on each of the grids of a rank's box that become coarser in the directions of
/// which `is_coarsened` is true.
double bytes_of_grids(spmv::GridBox box, const std::array<bool, 3>& is_coarsened) {
  constexpr int depth = 2;
  constexpr int floats_of_line = 16;
  constexpr spmv::GlobalIndex least_points = 3;  // of a direction, to be coarsened once more
  double bytes = 0;
  for (bool is_coarser = true; is_coarser;) {
    const spmv::GridLayout layout(box, depth, floats_of_line);
    const double used = sizeof(float) * static_cast<double>(layout.element_count());
    bytes += perfmodel::bytes_of_pages(0, used, used);
    is_coarser = false;
    for (std::size_t d = 0; d < 3; ++d) {
      if (!is_coarsened[d] || box.size(d) < least_points) continue;
      box.end[d] = box.begin[d] + box.size(d) / 2;
      is_coarser = true;
    }
  }
  return bytes;
}

}  // namespace

double multigrid_arrays(const MultigridUse& use, int rank_count) {
  if (use.is_turned) return 2;  // b and x
  if (!use.is_matrix_free) return !use.is_varying ? 4.2 : use.is_method ? 2.5 : 0;
  if (!use.is_varying) return 2;
  if (use.is_method) return rank_count > 1 ? 6.5 : 7.5;
  return rank_count > 1 ? 7.2 : 5.5;
}

double matrix_multigrid_bytes(const spmv::GridSize& grid, bool is_file, bool is_double, int rank,
                              int rank_count) {
  const spmv::GridBox own = spmv::GridPartition(grid, rank_count).box(rank);
  double bytes = bytes_of_grids(own, {true, true, true});
  for (std::size_t d = 0; d < 3 && is_file; ++d)
    bytes = std::max(bytes, bytes_of_grids(own, {d == 0, d == 1, d == 2}));
  const double arrays = rank_count > 1 ? 11.6 : 7;  // couplings go to boxes of the grid
  const double of_values = is_double ? 2 : 1;
  return of_values * arrays * bytes;
}

}  // namespace weft::solver
