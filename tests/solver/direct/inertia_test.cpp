#include "solver/direct/inertia.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/direct/lower_triangle.h"
#include "solver/direct/small_matrix.h"

namespace weft::solver {
namespace {

/// The 5-point stencil on a square of points.
LowerTriangle stencil_on_square(int points) {
  LowerTriangle a{.size = static_cast<std::size_t>(points) * static_cast<std::size_t>(points),
                  .entries = {}};
  for (int i = 0; i < points * points; ++i) {
    a.entries.push_back({i, i, 4});
    if (i % points > 0) a.entries.push_back({i, i - 1, -1});
    if (i >= points) a.entries.push_back({i, i - points, -1});
  }
  return a;
}

TEST_CASE("pivots count the eigenvalues of a grid on either side of a number") {
  constexpr int points = 23;
  const InertiaCounter counter(stencil_on_square(points), 1e9, 1e8);
  REQUIRE(counter.fits());
  CHECK(counter.nonzeros() > 2 * points * points);
  CHECK(counter.nonzeros() < points * points * points);
  for (const double sigma : {-1.0, 0.02, 0.5, 3.99, 4.01, 7.0, 9.0}) {
    std::int64_t below = 0;
    for (int i = 1; i <= points; ++i)
      for (int k = 1; k <= points; ++k)
        below += 4 - 2 * std::cos(std::numbers::pi * i / (points + 1)) -
                     2 * std::cos(std::numbers::pi * k / (points + 1)) <
                 sigma;
    const std::optional<Inertia> found = counter.count(sigma);
    REQUIRE(found);
    CHECK(found->below == below);
    CHECK(found->below + found->above == std::int64_t{points} * points);
    CHECK(found->error < 1e-9);
    CHECK(found->error > 1e-15);
  }
}

TEST_CASE("pivots count as the eigenvalues of random indefinite matrices say") {
  std::mt19937_64 bits(7);
  const auto uniform = [&bits] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  for (int number = 0; number < 20; ++number) {
    const int size = 1 + static_cast<int>(bits() % 40);
    LowerTriangle a{.size = static_cast<std::size_t>(size), .entries = {}};
    SmallMatrix dense(size, size);
    for (int i = 0; i < size; ++i)
      for (int k = 0; k <= i; ++k) {
        if (uniform() > 0.3) continue;
        const double value = uniform() - 0.5;
        a.entries.push_back({i, k, value});
        dense(i, k) = dense(k, i) = value;
      }
    const SymmetricEigen exact = symmetric_eigen(dense);
    const InertiaCounter counter(a, 1e9, 1e8);
    for (const double sigma : {-0.7, -0.1, 1e-6, 0.3}) {
      const auto found = counter.count(sigma);
      REQUIRE(found);
      std::int64_t least = 0;
      std::int64_t most = 0;
      for (const double value : exact.values) {
        least += value < sigma - found->error - 1e-14;
        most += value < sigma + found->error + 1e-14;
      }
      CHECK(found->below >= least);
      CHECK(found->below <= most);
    }
  }
}

TEST_CASE("a pivot that vanishes counts nothing, and a small one says how little it shows") {
  const LowerTriangle swap{.size = 2, .entries = {{1, 0, 1}}};
  const InertiaCounter counter(swap, 1e9, 1e8);
  CHECK_FALSE(counter.count(0));
  const auto near = counter.count(1e-12);
  REQUIRE(near);
  CHECK(near->below == 1);
  CHECK(near->error > 1e-5);
  const auto far = counter.count(0.5);
  REQUIRE(far);
  CHECK(far->below == 1);
  CHECK(far->error < 1e-13);
}

TEST_CASE("a factor beyond the limits is not made, and rarely ordered") {
  const InertiaCounter counter(stencil_on_square(40), 1e4, 1e8);
  CHECK_FALSE(counter.fits());
  CHECK_FALSE(counter.count(1));
  const InertiaCounter of_entries(stencil_on_square(40), 1e9, 5000);
  CHECK_FALSE(of_entries.fits());
  const InertiaCounter of_diagonal({.size = 3, .entries = {{0, 0, 1}, {1, 1, -1}, {2, 2, 0}}}, 0,
                                   0);
  CHECK(of_diagonal.fits());
  CHECK(of_diagonal.count(0.5)->below == 2);
}

}  // namespace
}  // namespace weft::solver
