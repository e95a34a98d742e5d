#include "solver/multigrid/couplings/boundary.h"

#include <algorithm>
#include <cstddef>

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

struct Share {
  double* coupling;
  double weight;
};

/// Gives the excess of one point to its couplings. `excess`: its place.
void give_excess(CouplingPlane& plane, CouplingPlane& after_plane, double& excess,
                 const GridBox& grid, const std::array<GlobalIndex, 3>& at,
                 const std::array<bool, 3>& has_boundary) {
  if (excess <= 0) return;
  const auto& [x, y, z] = at;
  const std::array<double*, 3> befores{plane.before(0, y) + x, plane.before(1, y) + x,
                                       plane.before(2, y) + x};
  const std::array<double*, 3> afters{plane.before(0, y) + x + 1, plane.before(1, y + 1) + x,
                                      after_plane.before(2, y) + x};
  std::array<Share, 6> shares{};
  std::size_t count = 0;
  double sum = 0;  // of the couplings with neighbours
  int neighbours = 0;
  int single = 0;  // boundaries of directions with one point
  for (std::size_t d = 0; d < 3; ++d) {
    double* const before = befores[d];
    double* const after = afters[d];
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
  excess = single > 0 && rest > 0 ? rest : 0;
}

bool has_other_than_zero(const double* begin, const double* end) {
  return std::any_of(begin, end, [](double value) { return value != 0; });
}

}  // namespace

void give_excess_to_boundary(CouplingPlane& plane, CouplingPlane& after, const GridBox& box,
                             GlobalIndex z, const GridBox& grid,
                             const std::array<bool, 3>& has_boundary) {
  if (!plane.has_excess) return;
  plane.has_excess = false;
  for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
    double* const excess = plane.excess(y);
    const bool is_inside = y > 0 && y < grid.end[1] - 1 && z > 0 && z < grid.end[2] - 1;
    const auto give = [&](GlobalIndex x) {
      give_excess(plane, after, excess[x], grid, {x, y, z}, has_boundary);
    };
    if (!is_inside) {
      for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) give(x);
    } else {
      if (box.begin[0] == 0) give(0);
      if (box.end[0] == grid.end[0] && box.end[0] > 1) give(box.end[0] - 1);
    }
    plane.has_excess =
        has_other_than_zero(excess + box.begin[0], excess + box.end[0]) || plane.has_excess;
  }
}

}  // namespace weft::solver
