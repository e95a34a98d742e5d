#include "solver/multigrid/grids/grid_level.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "spmv/grid/stencil.h"
#include "spmv/problems/problem.h"

namespace weft::solver {
namespace {

std::vector<GridLevel> levels_of(const std::string& word) {
  return grid_levels(spmv::GridStencil::of(spmv::Problem::parse(word)), 50);
}

TEST_CASE("coarsening leaves the boundary where it is, whatever the size") {
  for (spmv::GlobalIndex size = 1; size <= 300; ++size) {
    GridDirection direction{size, 1, 1};
    const double length = static_cast<double>(size) + 1;
    double distance = 1;
    while (direction.size > 1) {
      direction = direction.coarse();
      distance *= 2;
      CAPTURE(size, direction.size);
      CHECK(distance * (static_cast<double>(direction.size) + direction.last_gap) == length);
      CHECK(direction.coupling == 1 / (distance * distance));
    }
  }
}

TEST_CASE("restriction is the transpose of interpolation by masses") {
  for (spmv::GlobalIndex size = 2; size <= 40; ++size)
    for (const double gap : {1.0, 0.5, 0.75, 0.125}) {
      const GridDirection fine{size, gap, 1};
      const GridDirection coarse = fine.coarse();
      for (spmv::GlobalIndex j = 0; j < coarse.size; ++j) {
        CAPTURE(size, gap, j);
        const auto weights = fine.restriction(j);
        const double to = 2 * coarse.mass(j);
        CHECK(weights[0] * to == Approx(fine.mass(2 * j) * fine.interpolation(2 * j)[1]));
        CHECK(weights[1] * to == Approx(fine.mass(2 * j + 1)));
        if (2 * j + 2 < size)
          CHECK(weights[2] * to == Approx(fine.mass(2 * j + 2) * fine.interpolation(2 * j + 2)[0]));
        else
          CHECK(weights[2] == 0);
      }
    }
}

TEST_CASE("masses make the operator symmetric, and it is exact for a parabola") {
  for (const double gap : {1.0, 0.5, 0.75, 0.125}) {
    const GridDirection direction{9, gap, 1};
    const double length = 9 + gap;
    CHECK(direction.mass(8) * direction.before(8) ==
          Approx(direction.mass(7) * direction.coupling));
    const auto u = [&](double x) { return x * (length - x); };  // -u'' = 2
    for (spmv::GlobalIndex i = 0; i < 9; ++i) {
      const auto x = static_cast<double>(i + 1);
      const double after = i == 8 ? 0 : u(x + 1);
      CHECK(direction.diagonal(i) * u(x) - direction.before(i) * u(x - 1) -
                direction.coupling * after ==
            Approx(2));
    }
  }
}

TEST_CASE("only directions with strong couplings are coarsened") {
  const auto first = [](const std::string& word) { return levels_of(word).front().is_coarsened; };
  CHECK(first("poisson3d:40") == std::array<bool, 3>{true, true, true});
  CHECK(first("anisotropic3d:40,1,1,10") == std::array<bool, 3>{false, false, true});
  CHECK(first("anisotropic3d:40,100,100,1") == std::array<bool, 3>{true, true, false});
  CHECK(first("anisotropic3d:40,1,10,100") == std::array<bool, 3>{false, false, true});
  CHECK(first("anisotropic3d:40,1,1,1.9") == std::array<bool, 3>{false, false, true});
  CHECK(first("anisotropic3d:40,1,1.5,1.5") == std::array<bool, 3>{true, true, true});
  CHECK(first("poisson2d:40") == std::array<bool, 3>{true, true, false});
  for (const char* const word : {"poisson3d:40", "anisotropic3d:40,1,10,100", "poisson2d:9x700",
                                 "poisson3d:300x2x1", "anisotropic3d:50x3x7,1e6,1,1"}) {
    const auto levels = levels_of(word);
    CHECK(levels.back().point_count() <= 50);
    for (const GridLevel& level : levels)
      CHECK(std::max({level.directions[0].coupling, level.directions[1].coupling,
                      level.directions[2].coupling}) == 1);
  }
}

}  // namespace
}  // namespace weft::solver
