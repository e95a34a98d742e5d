#include "solver/multigrid/grid_gathering.h"

#include <catch2/catch.hpp>

#include "solver/multigrid/level_plan.h"
#include "spmv/grid/stencil.h"
#include "spmv/problems/problem.h"

namespace weft::solver {
namespace {

struct Case {
  explicit Case(int ranks)
      : stencil(spmv::GridStencil::of(spmv::Problem::parse("poisson3d:200"))),
        grids(grid_levels(stencil, coarsest_points)),
        partition(stencil.grid, ranks) {}
  Gathering choose(double latency_seconds, double bytes_per_second) const {
    return choose_gathering(
        grids, partition,
        {.latency_seconds = latency_seconds, .bytes_per_second = bytes_per_second}, 2, 1);
  }

  spmv::GridStencil stencil;
  std::vector<GridLevel> grids;
  spmv::GridPartition partition;
};

constexpr double microsecond = 1e-6;

TEST_CASE("messages that take longer gather grids earlier") {
  const Case eight(8);
  const Gathering quick = eight.choose(0.1 * microsecond, 1e11);
  const Gathering usual = eight.choose(30 * microsecond, 1e9);
  const Gathering slow = eight.choose(20000 * microsecond, 1e9);
  CHECK(quick.is_chosen);
  CHECK(quick.least_rows <= 8);
  CHECK(usual.least_rows >= quick.least_rows);
  CHECK(slow.least_rows >= 64);  // more than any coarse box has
  CHECK(slow.modelled_seconds > usual.modelled_seconds);
  CHECK(usual.modelled_seconds > quick.modelled_seconds);
}

TEST_CASE("the choice is never worse in the model than a fixed number of points") {
  for (const int ranks : {2, 8, 27, 512})
    for (const double latency : {1.0, 50.0, 1000.0}) {
      CAPTURE(ranks, latency);
      const Case some(ranks);
      const Gathering chosen = some.choose(latency * microsecond, 1e9);
      for (const spmv::GlobalIndex least_points : {2, 8, 64})
        CHECK(chosen.modelled_seconds <=
              modelled_cycle_seconds(some.grids, some.partition, chosen, 2, 1, least_points));
    }
}

TEST_CASE("a single rank has nothing to gather") {
  const Gathering alone = Case(1).choose(microsecond, 1e9);
  CHECK_FALSE(alone.is_chosen);
  CHECK(modelled_cycle_seconds(Case(1).grids, Case(1).partition, {.bytes_per_second = 1e9}, 2, 1,
                               8) < 0.1);
}

}  // namespace
}  // namespace weft::solver
