#include "solver/krylov/stop_criterion.h"

#include <cstdint>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

TEST_CASE("as many iterations are expected as the residual takes at its rate so far") {
  const StopCriterion stop{.tolerance = 1e-8, .max_iterations = 1000};
  CHECK(stop.expected_iterations(10, 1e-4, 1) == 10);
  CHECK(stop.expected_iterations(10, 2e-2, 2) == 30);
  CHECK(stop.expected_iterations(10, 1e-9, 1) == 0);
  const StopCriterion absolute{.tolerance = 0, .max_iterations = 1000, .absolute_tolerance = 1e-6};
  CHECK(absolute.expected_iterations(10, 1e-3, 1) == 10);
}

TEST_CASE("up to the limit of iterations are expected where the residual falls slowly or rises") {
  const StopCriterion stop{.tolerance = 1e-8, .max_iterations = 1000};
  CHECK(stop.expected_iterations(10, 0.999, 1) == 990);
  CHECK(stop.expected_iterations(10, 1, 1) == 990);
  CHECK(stop.expected_iterations(10, 12, 1) == 990);
  CHECK(StopCriterion{.tolerance = 0, .max_iterations = 20}.expected_iterations(10, 0.5, 1) == 10);
}

}  // namespace
}  // namespace weft::solver
