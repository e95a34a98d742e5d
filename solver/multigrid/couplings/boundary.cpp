#include "solver/multigrid/couplings/boundary.h"

#include <cstddef>

#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

/// Of one point, at element `i`.
void give_excess(GridCouplings& couplings, const GridBox& grid,
                 const std::array<GlobalIndex, 3>& at, std::size_t i,
                 const std::array<bool, 3>& has_boundary) {
  const double excess = couplings.excess()[i];
  if (excess <= 0) return;
  struct Share {
    double* coupling;
    double weight;
  };
  std::array<Share, 6> shares{};
  std::size_t count = 0;
  double sum = 0;  // of the couplings with neighbours
  int neighbours = 0;
  int single = 0;  // boundaries of directions with one point
  for (std::size_t d = 0; d < 3; ++d) {
    double* const before = couplings.before(d) + i;
    double* const after = before + couplings.stride(d);
    if (grid.end[d] == 1) {
      if (has_boundary[d]) single += 2;
      continue;
    }
    const bool is_first = at[d] == 0;
    const bool is_last = at[d] == grid.end[d] - 1;
    if (is_first) shares[count++] = {before, *after};
    if (is_last) shares[count++] = {after, *before};
    if (!is_first) sum += *before;
    if (!is_last) sum += *after;
    neighbours += (is_first ? 0 : 1) + (is_last ? 0 : 1);
  }
  double total = neighbours > 0 ? single * sum / neighbours : 0;
  for (std::size_t k = 0; k < count; ++k) total += shares[k].weight;
  if (count == 0 || total <= 0) return;
  double rest = excess;
  for (std::size_t k = 0; k < count; ++k) {
    *shares[k].coupling = excess * (shares[k].weight / total);
    rest -= *shares[k].coupling;
  }
  couplings.excess()[i] = single > 0 && rest > 0 ? rest : 0;
}

}  // namespace

void give_excess_to_boundary(const comm_thread::ComputeTeam& team, GridCouplings& couplings,
                             const GridBox& grid, const std::array<bool, 3>& has_boundary) {
  team.run([&](const comm_thread::TeamThread& thread) {
    for (const GridBox& part : spmv::share_of_rows(couplings.points(), thread.index, thread.count))
      for (GlobalIndex z = part.begin[2]; z < part.end[2]; ++z)
        for (GlobalIndex y = part.begin[1]; y < part.end[1]; ++y) {
          const bool is_inside = y > 0 && y < grid.end[1] - 1 && z > 0 && z < grid.end[2] - 1;
          const std::size_t first = couplings.layout().index(part.begin[0], y, z);
          for (GlobalIndex x = part.begin[0]; x < part.end[0]; ++x) {
            if (is_inside && x > 0 && x < grid.end[0] - 1) continue;
            give_excess(couplings, grid, {x, y, z},
                        first + static_cast<std::size_t>(x - part.begin[0]), has_boundary);
          }
        }
  });
}

}  // namespace weft::solver
