#include "spmv/grid/stencil.h"

#include <utility>

#include "comm_thread/mpi/input_error.h"

namespace weft::spmv {

GridStencil GridStencil::of(const Problem& problem) {
  switch (problem.kind) {
    case ProblemKind::poisson2d:
      return {problem.grid, 4, {1, 1, 0}, false};
    case ProblemKind::poisson3d:
      return {problem.grid, 6, {1, 1, 1}, false};
    case ProblemKind::poisson3d27:
      return {problem.grid, 26, {1, 1, 1}, true};
    case ProblemKind::anisotropic3d: {
      const auto& w = problem.weights;
      return {problem.grid, 2 * (w[0] + w[1] + w[2]), w, false};
    }
    default:
      break;
  }
  throw comm_thread::InputError("found " + problem.name() +
                                " without a stencil of the same numbers for all points; expected "
                                "poisson2d, poisson3d, poisson3d27 or "
                                "anisotropic3d for a matrix-free operator");
}

std::int64_t GridStencil::nonzero_count() const {
  // Points times neighbours, less those beyond the faces.
  if (has_corners) return (3 * grid.x - 2) * (3 * grid.y - 2) * (3 * grid.z - 2);
  const std::int64_t beyond = grid.x * grid.y + grid.y * grid.z + grid.x * grid.z;
  const std::int64_t flat = weights[2] == 0 ? 2 * (row_count() - grid.x * grid.y) : 0;
  return 7 * row_count() - 2 * beyond - flat;
}

GridStencil GridStencil::with_x_exchanged(std::size_t d) const {
  GridStencil result = *this;
  result.grid = grid.with_x_exchanged(d);
  std::swap(result.weights[0], result.weights[d]);
  return result;
}

double GridStencil::norm() const {
  return has_corners ? centre + 26 : centre + 2 * (weights[0] + weights[1] + weights[2]);
}

}  // namespace weft::spmv
