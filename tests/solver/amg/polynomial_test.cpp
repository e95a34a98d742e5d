#include "solver/amg/polynomial.h"

#include <cmath>

#include <catch2/catch.hpp>

namespace weft::solver::amg {
namespace {

/// 1 − λ·q(λ): what smoothing leaves of an error with the eigenvalue λ.
double left_over(const Polynomial& smoother, double eigenvalue) {
  double residual = 1;
  double x = 0;
  double z = 0;
  for (int i = 1; i <= smoother.degree(); ++i) {
    const Polynomial::Step step = smoother.step(i);
    if (i > 1) residual -= eigenvalue * z;
    z = (i > 1 ? step.momentum * z : 0) + step.factor * residual;
    x += step.weight * z;
  }
  return 1 - eigenvalue * x;
}

}  // namespace

TEST_CASE("smoothing reduces every error and upper ones more with every degree") {
  double worst_before = 1;
  for (int degree = 1; degree <= Polynomial::most_degree; ++degree) {
    const Polynomial smoother(degree, 1.9);
    CHECK(left_over(smoother, 0) == 1);
    double worst = 0;
    for (int i = 1; i <= 100; ++i) {
      const double eigenvalue = 1.9 * i / 100;
      CHECK(std::abs(left_over(smoother, eigenvalue)) < 1);
      if (i >= 20) worst = std::max(worst, std::abs(left_over(smoother, eigenvalue)));
    }
    CHECK(worst < worst_before);
    worst_before = worst;
  }
}

TEST_CASE("optimal weights meet the bound of their source") {
  // Σ over λ of λ/largest·p²/(1 − p²) is bounded by 1/(4/π²·(2·degree + 1)² − 2/3) (Lottes,
  // eq. 4.6).
  for (int degree = 1; degree <= Polynomial::most_degree; ++degree) {
    const Polynomial smoother(degree, 1);
    const double bound =
        1 / (4 / (M_PI * M_PI) * (2.0 * degree + 1) * (2.0 * degree + 1) - 2.0 / 3);
    for (int i = 1; i <= 1000; ++i) {
      const double p = left_over(smoother, i / 1000.0);
      CHECK(i / 1000.0 * p * p / (1 - p * p) < 1.05 * bound);
    }
  }
}

}  // namespace weft::solver::amg
