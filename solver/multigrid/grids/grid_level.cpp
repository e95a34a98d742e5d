#include "solver/multigrid/grids/grid_level.h"

#include <algorithm>

namespace weft::solver {
namespace {

/// The second moments of the 27 points are those of 7 points with this coupling.
constexpr double corners_coupling = 9;

/// Of the directions that have more than one point.
double strongest(const GridLevel& level) {
  double coupling = 0;
  for (const GridDirection& direction : level.directions)
    if (direction.size > 1) coupling = std::max(coupling, direction.coupling);
  return coupling;
}

void divide_by_largest(GridLevel& level) {
  double largest = 0;
  for (const GridDirection& direction : level.directions)
    largest = std::max(largest, direction.coupling);
  level.scale = largest;
  for (GridDirection& direction : level.directions) direction.coupling /= largest;
}

GridLevel next_level(const GridLevel& fine) {
  GridLevel coarse;
  for (std::size_t d = 0; d < 3; ++d)
    coarse.directions[d] = fine.is_coarsened[d] ? fine.directions[d].coarse() : fine.directions[d];
  // A single point keeps its formula, of which only the diagonal counts.
  coarse.has_corners = fine.has_corners && fine.point_count() == 1;
  if (fine.has_corners && !coarse.has_corners)
    for (GridDirection& direction : coarse.directions) direction.coupling *= corners_coupling;
  divide_by_largest(coarse);
  return coarse;
}

}  // namespace

GridDirection GridDirection::coarse() const {
  return {size / 2, size % 2 == 0 ? last_gap / 2 : (1 + last_gap) / 2, coupling / 4};
}

std::array<double, 3> GridDirection::restriction(spmv::GlobalIndex j) const {
  const double to = 2 * coarse().mass(j);
  const double after = 2 * j + 2 < size ? interpolation(2 * j + 2)[0] * mass(2 * j + 2) : 0;
  return {0.5 / to, mass(2 * j + 1) / to, after / to};
}

std::array<double, 2> GridDirection::interpolation(spmv::GlobalIndex i) const {
  if (is_last(i)) return {last_gap / (1 + last_gap), 0};
  return {0.5, 0.5};
}

double GridLevel::diagonal(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const {
  if (has_corners) return 26;
  return directions[0].diagonal(x) + (directions[1].diagonal(y) + directions[2].diagonal(z));
}

double GridLevel::largest_eigenvalue() const { return has_corners ? 36.0 / 26 : 2; }

std::vector<GridLevel> grid_levels(const spmv::GridStencil& stencil,
                                   spmv::GlobalIndex coarsest_points) {
  GridLevel finest;
  finest.has_corners = stencil.has_corners;
  const std::array<spmv::GlobalIndex, 3> sizes{stencil.grid.x, stencil.grid.y, stencil.grid.z};
  for (std::size_t d = 0; d < 3; ++d) finest.directions[d] = {sizes[d], 1, stencil.weights[d]};
  divide_by_largest(finest);
  std::vector<GridLevel> levels{finest};
  do {
    GridLevel& fine = levels.back();
    const double limit = least_coupling * strongest(fine);
    for (std::size_t d = 0; d < 3; ++d)
      fine.is_coarsened[d] = fine.directions[d].size > 1 && fine.directions[d].coupling >= limit;
    levels.push_back(next_level(fine));
  } while (levels.back().point_count() > coarsest_points);
  return levels;
}

}  // namespace weft::solver
