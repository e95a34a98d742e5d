#include "solver/multigrid/grids/turned_grid.h"

#include <cstddef>
#include <string>

#include <catch2/catch.hpp>

#include "spmv/grid/stencil.h"
#include "spmv/problems/problem.h"

namespace weft::solver {
namespace {

std::size_t direction_for(const std::string& word) {
  return TurnedGrid::direction_for(spmv::GridStencil::of(spmv::Problem::parse(word)));
}

TEST_CASE("a grid with short rows is turned along its longest direction") {
  CHECK(direction_for("poisson3d:37x211x64") == 1);
  CHECK(direction_for("poisson3d:37x64x211") == 2);
  CHECK(direction_for("poisson3d:80") == 0);
  CHECK(direction_for("poisson3d27:80") == 0);
}

TEST_CASE("a grid of which only x is coarsened is turned, unless it is large") {
  CHECK(direction_for("anisotropic3d:80,1000,1,1") == 1);
  CHECK(direction_for("anisotropic3d:80,100,1,1") == 1);
  CHECK(direction_for("anisotropic3d:80,10,1,1") == 0);  // soon y is coarsened, too
  CHECK(direction_for("anisotropic3d:80,100,1,100") == 0);
  CHECK(direction_for("anisotropic3d:80,1,100,1") == 0);
  CHECK(direction_for("anisotropic3d:80,100,100,1") == 0);
  CHECK(direction_for("anisotropic3d:128,1000,1,1") == 0);
}

}  // namespace
}  // namespace weft::solver
