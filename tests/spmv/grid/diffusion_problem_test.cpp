#include "spmv/grid/diffusion_problem.h"

#include <cmath>
#include <cstdlib>

#include <catch2/catch.hpp>

namespace weft::spmv {
namespace {

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-15 * std::abs(b); }

TEST_CASE("one point has the middle of the disc below it") {
  const DiffusionProblem problem{{1, 1, 1}};
  CHECK(problem.boundary_value(0, 0, -1) == 1);
  CHECK(problem.boundary_value(0, 0, 1) == 0);
  CHECK(problem.boundary_value(-1, 0, 0) == 0);
  CHECK(problem.boundary_value(1, 0, 0) == 0);
  CHECK(problem.boundary_value(0, -1, 0) == 0);
  CHECK(problem.boundary_value(0, 1, 0) == 0);
  CHECK(problem.source_square({{0, 0, 0}, {1, 1, 1}}) == 1);
  CHECK(problem.start_value() == 0);
}

TEST_CASE("3x3x2 points, by hand") {
  const DiffusionProblem problem{{3, 3, 2}};
  // Coordinates 1/4, 1/2, 3/4: the middle, four beside it, four at the corners.
  for (GlobalIndex y = 0; y < 3; ++y)
    for (GlobalIndex x = 0; x < 3; ++x) {
      const auto steps = static_cast<double>(std::abs(x - 1) + std::abs(y - 1));
      CHECK(is_near(problem.boundary_value(x, y, -1), std::exp(-steps / 16)));
      CHECK(problem.boundary_value(x, y, 2) == 0);
    }
  const double all = 1 + 4 * std::exp(-0.125) + 4 * std::exp(-0.25);
  CHECK(is_near(problem.source_square({{0, 0, 0}, {3, 3, 2}}), all));
  CHECK(is_near(problem.source_square({{0, 1, 0}, {2, 2, 1}}), 1 + std::exp(-0.125)));
  CHECK(problem.source_square({{0, 0, 1}, {3, 3, 2}}) == 0);
}

TEST_CASE("edges and sides of the cube are 0") {
  const DiffusionProblem problem{{3, 3, 2}};
  for (GlobalIndex i = -1; i <= 3; ++i)
    for (const GlobalIndex side : {-1, 3})
      for (GlobalIndex z = -1; z <= 2; ++z) {
        CHECK(problem.boundary_value(side, i, z) == 0);
        CHECK(problem.boundary_value(i, side, z) == 0);
      }
}

TEST_CASE("points on the circle belong to the disc, on all sides alike") {
  // Coordinates are tenths: 0.3² + 0.4² = 0.5².
  const DiffusionProblem problem{{9, 9, 1}};
  for (const GlobalIndex a : {-4, 4})
    for (const GlobalIndex b : {-3, 3}) {
      CAPTURE(a, b);
      CHECK(is_near(problem.boundary_value(4 + a, 4 + b, -1), std::exp(-0.25)));
      CHECK(is_near(problem.boundary_value(4 + b, 4 + a, -1), std::exp(-0.25)));
      CHECK(problem.boundary_value(4 + a, 4 + (b < 0 ? -4 : 4), -1) == 0);
    }
}

TEST_CASE("the disc is an ellipse of points where the grid is not square") {
  // x: tenths; y: one point, in the middle.
  const DiffusionProblem flat{{9, 1, 5}};
  for (GlobalIndex x = 0; x < 9; ++x) {
    const double distance = static_cast<double>(x - 4) / 10;
    CHECK(is_near(flat.boundary_value(x, 0, -1), std::exp(-distance * distance)));
  }
  // 39×9 points: (x − ½) = 16/40, (y − ½) = 3/10 is on the circle, the next point outside of it.
  const DiffusionProblem wide{{39, 9, 1}};
  CHECK(wide.boundary_value(19 + 16, 4 + 3, -1) > 0);
  CHECK(wide.boundary_value(19 - 16, 4 - 3, -1) > 0);
  CHECK(wide.boundary_value(19 + 17, 4 + 3, -1) == 0);
  CHECK(wide.boundary_value(19 + 16, 4 + 4, -1) == 0);
}

TEST_CASE("a lift raises boundary and start, and leaves the norm of b alone") {
  const DiffusionProblem problem{{3, 3, 2}};
  const DiffusionProblem lifted{{3, 3, 2}, 1};
  for (GlobalIndex z : {-1, 0, 1, 2})
    for (GlobalIndex y = -1; y <= 3; ++y)
      for (GlobalIndex x = -1; x <= 3; ++x)
        CHECK(lifted.boundary_value(x, y, z) == 1 + problem.boundary_value(x, y, z));
  CHECK(lifted.start_value() == 1);
  const GridBox all{{0, 0, 0}, {3, 3, 2}};
  CHECK(lifted.source_square(all) == problem.source_square(all));
}

}  // namespace
}  // namespace weft::spmv
