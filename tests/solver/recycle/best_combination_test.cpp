#include "solver/recycle/best_combination.h"

#include <limits>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {

TEST_CASE("the best combination solves the products of the vectors") {
  // G = [4 2 0; 2 5 1; 0 1 3], c = (1, -2, 3).
  const auto best =
      find_best_combination(std::vector<double>{4, 2, 0, 5, 1, 3}, std::vector<double>{0, -5, 7});
  REQUIRE(best);
  CHECK(best->factors[0] == Approx(1));
  CHECK(best->factors[1] == Approx(-2));
  CHECK(best->factors[2] == Approx(3));
  // Together they are cᵀ·G·c = c·g.
  CHECK(best->squares[0] + best->squares[1] + best->squares[2] == Approx(10 + 21));
  CHECK(best->squares[0] == 0);
}

TEST_CASE("a vector that depends on those before it is left out") {
  // The second is twice the first.
  const auto best =
      find_best_combination(std::vector<double>{1, 2, 0, 4, 0, 9}, std::vector<double>{3, 6, 18});
  REQUIRE(best);
  CHECK(best->factors == std::vector<double>{3, 0, 2});
  CHECK(best->squares == std::vector<double>{9, 0, 36});
}

TEST_CASE("without a vector of a positive square there is no combination") {
  CHECK_FALSE(find_best_combination({}, {}));
  CHECK_FALSE(find_best_combination(std::vector<double>{0}, std::vector<double>{1}));
  CHECK_FALSE(find_best_combination(std::vector<double>{-1}, std::vector<double>{1}));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_FALSE(find_best_combination(std::vector<double>{infinity}, std::vector<double>{1}));
  CHECK_FALSE(find_best_combination(std::vector<double>{1}, std::vector<double>{infinity}));
}

}  // namespace weft::solver
