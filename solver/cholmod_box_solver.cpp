#include "solver/cholmod_box_solver.h"

#include <fmt/format.h>

namespace weft::solver {
namespace {

LowerTriangle matrix_of(const RobinBox& box) {
  LowerTriangle matrix{box.point_count(), {}};
  matrix.entries.reserve(3 * matrix.size);
  for (int y = 0; y < box.height; ++y)
    for (int x = 0; x < box.width; ++x) {
      const int point = y * box.width + x;
      double diagonal = 4;
      if (x == 0) diagonal -= box.west;
      if (x == box.width - 1) diagonal -= box.east;
      if (y == 0) diagonal -= box.south;
      if (y == box.height - 1) diagonal -= box.north;
      matrix.entries.push_back({point, point, diagonal});
      if (x + 1 < box.width) matrix.entries.push_back({point + 1, point, -1});
      if (y + 1 < box.height) matrix.entries.push_back({point + box.width, point, -1});
    }
  return matrix;
}

}  // namespace

CholmodBoxSolver::CholmodBoxSolver(const RobinBox& box, int thread_count)
    : factor_(matrix_of(box), thread_count,
              fmt::format("a subdomain of {} x {} points: found a matrix that is not positive "
                          "definite to working precision; expected a larger alpha",
                          box.width, box.height)) {}

}  // namespace weft::solver
