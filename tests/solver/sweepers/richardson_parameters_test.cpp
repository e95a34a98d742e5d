#include "solver/sweepers/richardson_parameters.h"

#include <limits>
#include <stdexcept>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

TEST_CASE("parameters are those of the formula") {
  CHECK(richardson_parameters(0).weight == 1);
  CHECK(richardson_parameters(0).momentum == 0);
  // √(1 − 0.8²) = 0.6
  CHECK(richardson_parameters(0.8).weight == Approx(1.25).epsilon(1e-15));
  CHECK(richardson_parameters(0.8).momentum == Approx(0.25).epsilon(1e-15));
  CHECK(richardson_parameters(0.999999).momentum < 1);
}

TEST_CASE("a radius that leaves no convergence is refused") {
  for (const double rho : {1.0, 2.0, -0.1, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(richardson_parameters(rho), std::invalid_argument);
}

}  // namespace
}  // namespace weft::solver
