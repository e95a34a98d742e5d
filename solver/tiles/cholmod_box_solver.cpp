#include "solver/tiles/cholmod_box_solver.h"

#include <algorithm>

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
    : box_(box),
      factor_(matrix_of(box), thread_count,
              fmt::format("a subdomain of {} x {} points: found a matrix that is not positive "
                          "definite to working precision; expected a larger alpha",
                          box.width, box.height)) {}

std::span<const double> CholmodBoxSolver::solve(int thread, std::span<double> right_hand_side,
                                                const BoxFrame& given, const BoxFrame& /*wanted*/) {
  given.for_each_run(
      box_.width, box_.height, [](int, int, int) {},
      [&](int x, int y, int count) {
        std::fill_n(right_hand_side.begin() + std::ptrdiff_t{y} * box_.width + x, count, 0.0);
      });
  return factor_.solve(thread, right_hand_side);
}

}  // namespace weft::solver
