#include "solver/tiles/robin_parameter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "solver/tiles/schwarz_problem.h"

namespace weft::solver {
namespace {

using Vector = std::vector<double>;

/// T·x = b, tridiag(−1, 2 + mu, −1) less something at either end, by elimination.
Vector solve_strip(int width, double mu, double left, double right, Vector b) {
  const auto n = static_cast<std::size_t>(width);
  Vector diagonal(n, 2 + mu);
  diagonal.front() -= left;
  diagonal.back() -= right;
  for (std::size_t i = 1; i < n; ++i) {
    diagonal[i] -= 1 / diagonal[i - 1];
    b[i] += b[i - 1] / diagonal[i - 1];
  }
  for (std::size_t i = n; i-- > 0;) b[i] = (b[i] + (i + 1 < n ? b[i + 1] : 0)) / diagonal[i];
  return b;
}

/// By what errors of one frequency fall in strips in the end: the iteration itself, many times.
double radius_of_strips(const SchwarzProblem& problem, double frequency) {
  const int q = problem.tiles_per_side;
  const int m = problem.points_per_side;
  const double beta = problem.beta();
  const double mu = 2 - 2 * std::cos(frequency);
  Vector x(static_cast<std::size_t>(q * m));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.7 * static_cast<double>(i * i));
  const auto at = [&](int i) { return x[static_cast<std::size_t>(i)]; };
  double logarithms = 0;
  constexpr int sweeps = 200;
  for (int sweep = 0; sweep < 2 * sweeps; ++sweep) {
    Vector next;
    for (int p = 0; p < q; ++p) {
      const int begin = p * m - (p > 0 ? problem.overlap : 0);
      const int end = (p + 1) * m + (p + 1 < q ? problem.overlap : 0);
      Vector b(static_cast<std::size_t>(end - begin));
      if (p > 0) b.front() += at(begin - 1) - beta * at(begin);
      if (p + 1 < q) b.back() += at(end) - beta * at(end - 1);
      const Vector solution =
          solve_strip(end - begin, mu, p > 0 ? beta : 0, p + 1 < q ? beta : 0, std::move(b));
      next.insert(next.end(), solution.begin() + (p * m - begin),
                  solution.begin() + (p * m - begin) + m);
    }
    double length = 0;
    for (const double value : next) length += value * value;
    length = std::sqrt(length);
    for (double& value : next) value /= length;
    x = next;
    if (sweep >= sweeps) logarithms += std::log(length);
  }
  return std::exp(logarithms / sweeps);
}

TEST_CASE("the convergence factor is that of the iteration on strips") {
  for (const double alpha : {0.02, 0.05, 0.2})
    for (const int overlap : {1, 3})
      for (const double share : {0.003, 0.02, 0.1, 0.5}) {
        CAPTURE(alpha, overlap, share);
        const SchwarzProblem problem{16, 16, overlap, alpha, {}};
        const double frequency = share * std::numbers::pi;
        const double exact = radius_of_strips(problem, frequency);
        const double factor = strip_convergence_factor(problem, frequency);
        CHECK(std::abs(factor - exact) < 0.05);
      }
}

TEST_CASE("the alpha chosen is near those that were found by trial") {
  // Yamazaki et al. 2019, Table 3: synchronous, 64 × 64 points, overlap 1.
  for (const auto& [tiles, alpha] : {std::pair{12, 0.0090},
                                     {18, 0.0055},
                                     {24, 0.0043},
                                     {30, 0.0035},
                                     {36, 0.0027},
                                     {42, 0.0023}}) {
    CAPTURE(tiles);
    const double found = optimized_alpha({tiles, 64, 1, 1, {}});
    CHECK(found > 0.8 * alpha);
    CHECK(found < 1.25 * alpha);
  }
}

TEST_CASE("small problems get an alpha, too") {
  // By trial: 36 iterations with 0.04, 21 with 0.06, 41 with 0.1, 74 with 0.2.
  CHECK(optimized_alpha({4, 16, 1, 1, {}}) > 0.04);
  CHECK(optimized_alpha({4, 16, 1, 1, {}}) < 0.12);
  CHECK(optimized_alpha({2, 2, 1, 1, {}}) > 0.5);
}

TEST_CASE("where no condition helps the classical one is chosen") {
  CHECK(std::isinf(optimized_alpha({1, 8, 1, 1, {}})));
  CHECK(std::isinf(optimized_alpha({3, 8, 0, 1, {}})));
}

TEST_CASE("no other alpha has a smaller largest factor") {
  const SchwarzProblem problem{8, 32, 2, 1, {}};
  const auto worst = [&](double alpha) {
    SchwarzProblem changed = problem;
    changed.alpha = alpha;
    double factor = 0;
    for (double frequency = 1e-4; frequency < std::numbers::pi; frequency *= 1.03)
      factor = std::max(factor, strip_convergence_factor(changed, frequency));
    return factor;
  };
  const double best = worst(optimized_alpha(problem));
  CHECK(best < 1);
  for (const double alpha : {0.001, 0.01, 0.02, 0.04, 0.1, 1.0}) CHECK(worst(alpha) > 0.999 * best);
}

}  // namespace
}  // namespace weft::solver
