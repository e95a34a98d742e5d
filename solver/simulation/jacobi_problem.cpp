#include "solver/simulation/jacobi_problem.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "spmv/grid/diffusion_problem.h"

namespace weft::solver {
namespace {

constexpr std::size_t face_count = 6;

spmv::DiffusionProblem problem_of(const PartShape& shape) {
  const auto size = [&](std::size_t direction) {
    return static_cast<spmv::GlobalIndex>(shape.ranks()[direction]) * shape.points();
  };
  return {.grid = {size(0), size(1), size(2)}};
}

}  // namespace

double source_norm(const PartShape& shape) {
  const spmv::DiffusionProblem problem = problem_of(shape);
  return std::sqrt(
      problem.source_square({{0, 0, 0}, {problem.grid.x, problem.grid.y, problem.grid.z}}));
}

void set_boundary_values(const PartShape& shape, int rank, std::span<double> values) {
  const spmv::DiffusionProblem problem = problem_of(shape);
  const std::array<int, 3> place = shape.place(rank);
  const spmv::GlobalIndex points = shape.points();
  const spmv::GridBox all = shape.layout().with_ghosts();
  for (std::size_t face = 0; face < face_count; ++face) {
    if (shape.neighbour(rank, face) >= 0) continue;
    spmv::GridBox box = shape.layout().own();
    const std::size_t direction = face / 2;
    box.begin[direction] = face % 2 == 0 ? all.begin[direction] : points;
    box.end[direction] = box.begin[direction] + 1;
    for (spmv::GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
      for (spmv::GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
        for (spmv::GlobalIndex x = box.begin[0]; x < box.end[0]; ++x)
          values[shape.layout().index(x, y, z)] = problem.boundary_value(
              x + place[0] * points, y + place[1] * points, z + place[2] * points);
  }
}

}  // namespace weft::solver
