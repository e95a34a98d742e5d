#include "solver/direct/tridiagonal_end.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

TEST_CASE("values and vectors at both ends of a tridiagonal matrix are those of the closed form") {
  constexpr int size = 60;
  const std::vector<double> diagonal(size, 2.0);
  const std::vector<double> beside(size - 1, -1.0);
  for (const int number : {0, 1, size - 2, size - 1}) {
    const double angle = std::numbers::pi * (number + 1) / (size + 1);
    const TridiagonalPair pair = tridiagonal_pair(diagonal, beside, number);
    CHECK(std::abs(pair.value - (2 - 2 * std::cos(angle))) < 1e-14);
    CHECK(tridiagonal_value(diagonal, beside, number) == pair.value);
    const double scale = std::sqrt(2.0 / (size + 1)) * (pair.vector[0] < 0 ? -1 : 1);
    for (std::size_t i = 0; i < pair.vector.size(); ++i)
      CHECK(std::abs(pair.vector[i] - scale * std::sin(angle * static_cast<double>(i + 1))) <
            1e-12);
  }
}

TEST_CASE("a tridiagonal matrix of one row, and one that is zero") {
  const std::vector<double> one{-3.5};
  CHECK(tridiagonal_pair(one, {}, 0).value == -3.5);
  CHECK(tridiagonal_pair(one, {}, 0).vector[0] == 1);
  const std::vector<double> zeros(3, 0.0);
  CHECK(tridiagonal_value(zeros, zeros, 2) == 0);
}

}  // namespace
}  // namespace weft::solver
