#include "solver/spectrum/kernel_polynomial.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

/// Moments of one eigenvalue, times the factors of a kernel.
std::vector<double> moments_of(double energy, const SpectralInterval& interval,
                               const std::vector<double>& factors) {
  const double angle = std::acos((energy - interval.center()) / interval.half());
  std::vector<double> moments;
  for (std::size_t m = 0; m < factors.size(); ++m)
    moments.push_back(factors[m] * std::cos(static_cast<double>(m) * angle));
  return moments;
}

TEST_CASE("an eigenvalue becomes a Gaussian of the Jackson kernel's width") {
  const SpectralInterval interval{.least = -3, .greatest = 5};
  const int count = 200;
  const auto factors = kernel_factors(MomentKernel::jackson, 0, count);
  CHECK(factors[0] == Approx(1).epsilon(1e-14));
  CHECK(factors[1] < 1);
  CHECK(factors.back() > 0);
  CHECK(factors.back() < 1e-3);
  for (const double energy : {1.0, 3.5, -2.6}) {
    const std::vector<std::vector<double>> moments{moments_of(energy, interval, factors)};
    const double width = kernel_width(MomentKernel::jackson, 0, count, interval, energy);
    CHECK(width < 4 * std::numbers::pi / count * 1.0001);
    const std::vector<double> here{energy, energy + width, energy - 2 * width};
    const auto density = densities(moments, interval, here);
    const double top = 1 / (std::sqrt(2 * std::numbers::pi) * width);
    CHECK(density[0][0] == Approx(top).epsilon(0.03));
    CHECK(density[1][0] == Approx(top * std::exp(-0.5)).epsilon(0.06));
    CHECK(density[2][0] == Approx(top * std::exp(-2.0)).epsilon(0.35));
    // One standard deviation on both sides.
    CHECK(density_integral(moments[0], interval, energy - width, energy + width) ==
          Approx(0.6827).epsilon(0.03));
  }
}

TEST_CASE("an eigenvalue becomes a Lorentzian of half its width at half height") {
  const SpectralInterval interval{.least = -1, .greatest = 1};
  const int count = 400;
  const double lambda = 4;
  const auto factors = kernel_factors(MomentKernel::lorentz, lambda, count);
  CHECK(factors[0] == 1);
  const std::vector<std::vector<double>> moments{moments_of(0.1, interval, factors)};
  const double width = kernel_width(MomentKernel::lorentz, lambda, count, interval, 0.1);
  const std::vector<double> here{0.1, 0.1 + width};
  const auto density = densities(moments, interval, here);
  CHECK(density[0][0] == Approx(1 / (std::numbers::pi * width)).epsilon(0.05));
  CHECK(density[1][0] == Approx(density[0][0] / 2).epsilon(0.08));
}

TEST_CASE("a density of the Jackson kernel is positive and adds up to the first moment") {
  const SpectralInterval interval{.least = 0, .greatest = 10};
  const auto factors = kernel_factors(MomentKernel::jackson, 0, 50);
  const std::vector<std::vector<double>> moments{moments_of(0.3, interval, factors)};
  const auto places = even_places(interval, 4000);
  CHECK(places.front() == Approx(0.00125));
  double sum = 0;
  for (const auto& density : densities(moments, interval, places)) {
    CHECK(density[0] > -1e-12);
    sum += density[0] * 10 / 4000;
  }
  CHECK(sum == Approx(1).epsilon(1e-2));  // the poles at the ends are cut
  CHECK(density_integral(moments[0], interval, -100, 100) == Approx(1).epsilon(1e-13));
  CHECK(density_integral(moments[0], interval, 20, 30) == 0);
  CHECK(density_integral(moments[0], interval, 0, 4) +
            density_integral(moments[0], interval, 4, 10) ==
        Approx(1).epsilon(1e-13));
}

}  // namespace
}  // namespace weft::solver
