#include "spmv/grid/diffusion_problem.h"

#include <cmath>

namespace weft::spmv {
namespace {

/// True if (x, y) is on the disc. Computed in integers: with rounded coordinates, points on the
/// circle would be inside on one side and outside on the other. Exact up to 9·10⁷ points of the
/// floor.
bool is_on_disc(const GridSize& grid, GlobalIndex x, GlobalIndex y) {
  const auto intervals_x = static_cast<double>(grid.x + 1);
  const auto intervals_y = static_cast<double>(grid.y + 1);
  // From the middle, in units of half an interval.
  const double a = static_cast<double>(2 * (x + 1) - (grid.x + 1)) * intervals_y;
  const double b = static_cast<double>(2 * (y + 1) - (grid.y + 1)) * intervals_x;
  const double radius = intervals_x * intervals_y;
  return a * a + b * b <= radius * radius;
}

/// Without the lift.
double floor_value(const GridSize& grid, GlobalIndex x, GlobalIndex y) {
  const double from_middle_x = static_cast<double>(x + 1) / static_cast<double>(grid.x + 1) - 0.5;
  const double from_middle_y = static_cast<double>(y + 1) / static_cast<double>(grid.y + 1) - 0.5;
  const double square = from_middle_x * from_middle_x + from_middle_y * from_middle_y;
  return is_on_disc(grid, x, y) ? std::exp(-square) : 0;
}

}  // namespace

double DiffusionProblem::boundary_value(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
  const bool is_floor = z < 0 && x >= 0 && x < grid.x && y >= 0 && y < grid.y;
  return lift + (is_floor ? floor_value(grid, x, y) : 0);
}

double DiffusionProblem::source_square(const GridBox& box) const {
  double sum = 0;
  if (box.begin[2] > 0) return sum;
  for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
    for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) {
      const double value = floor_value(grid, x, y);
      sum += value * value;
    }
  return sum;
}

}  // namespace weft::spmv
