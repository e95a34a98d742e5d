#include "solver/krylov/hessenberg_least_squares.h"

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {

TEST_CASE("y minimizes what the projected system leaves, column after column") {
  HessenbergLeastSquares problem(2);
  for (const double beta : {5.0, 10.0}) {  // the second time over old contents
    problem.start(beta);
    CHECK(problem.size() == 0);
    CHECK(problem.residual_norm() == beta);
    std::vector<double> column{3, 4};
    REQUIRE(problem.append(column));
    // min ‖β·e₁ − (3, 4)·y‖: y = 3β/25
    CHECK(problem.residual_norm() == Approx(0.8 * beta));
    CHECK(problem.solve()[0] == Approx(3 * beta / 25));
    column = {1, 2, 2};
    REQUIRE(problem.append(column));
    // The normal equations: 25·y₀ + 11·y₁ = 3β, 11·y₀ + 9·y₁ = β.
    const std::vector<double> y{16 * beta / 104, -8 * beta / 104};
    REQUIRE(problem.size() == 2);
    CHECK(problem.solve()[0] == Approx(y[0]));
    CHECK(problem.solve()[1] == Approx(y[1]));
    CHECK(problem.residual_norm() ==
          Approx(std::sqrt(std::pow(beta - 3 * y[0] - y[1], 2) + std::pow(4 * y[0] + 2 * y[1], 2) +
                           std::pow(2 * y[1], 2))));
  }
}

TEST_CASE("a column that depends on those before is left out, and one that ends the space is not") {
  HessenbergLeastSquares problem(3);
  problem.start(2);
  std::vector<double> column{0, 0};
  CHECK(!problem.append(column));
  CHECK(problem.residual_norm() == 2);
  column = {1, 1};
  CHECK(problem.append(column));
  column = {2, 2, 0};
  CHECK(!problem.append(column));
  CHECK(problem.size() == 1);
  CHECK(problem.residual_norm() == Approx(std::sqrt(2.0)));
  column = {2, 3, 0};
  CHECK(problem.append(column));
  CHECK(problem.residual_norm() == Approx(0).margin(1e-15));
  CHECK(problem.solve()[0] == Approx(6));
  CHECK(problem.solve()[1] == Approx(-2));
}

}  // namespace weft::solver
