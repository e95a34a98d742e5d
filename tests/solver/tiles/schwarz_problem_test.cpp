#include "solver/tiles/schwarz_problem.h"

#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/problems/random_numbers.h"

namespace weft::solver {
namespace {

SchwarzProblem with(const std::string& b) { return {2, 3, 1, 0.1, spmv::RightHandSide::parse(b)}; }

TEST_CASE("right-hand sides are those of poisson2d, whatever the tiles") {
  CHECK(with("ones").source(2, 5) == 1);
  CHECK(with("boundary-one").source(0, 0) == 2);
  CHECK(with("boundary-one").source(5, 3) == 1);
  CHECK(with("boundary-one").source(2, 3) == 0);
  CHECK(with("random:9").source(2, 3) == spmv::uniform(9, 20));
  const auto exact = [](int x, int y) { return spmv::uniform(4, y * 6 + x); };
  CHECK(with("x-random:4").source(5, 0) ==
        Approx(4 * exact(5, 0) - exact(4, 0) - exact(5, 1)).epsilon(1e-14));
  CHECK(with("x-random:4").source(2, 3) ==
        Approx(4 * exact(2, 3) - exact(1, 3) - exact(3, 3) - exact(2, 2) - exact(2, 4))
            .epsilon(1e-14));
}

TEST_CASE("numbers that make no problem are refused") {
  const auto changed = [](auto change) {
    SchwarzProblem problem = with("ones");
    change(problem);
    return problem;
  };
  CHECK_NOTHROW(check(with("ones")));
  CHECK_NOTHROW(check(changed([](auto& problem) { problem.overlap = 0; })));
  CHECK_THROWS_WITH(check(changed([](auto& problem) { problem.overlap = 3; })),
                    "overlap: found 3 with 3 points per side; expected less, so that a subdomain "
                    "stays within its neighbours");
  for (const auto& wrong : {changed([](auto& problem) { problem.tiles_per_side = 0; }),
                            changed([](auto& problem) { problem.points_per_side = 0; }),
                            changed([](auto& problem) { problem.overlap = -1; }),
                            changed([](auto& problem) { problem.alpha = 0; }),
                            changed([](auto& problem) { problem.alpha = -0.1; }), with("file.mtx")})
    CHECK_THROWS_AS(check(wrong), comm_thread::InputError);
}

}  // namespace
}  // namespace weft::solver
