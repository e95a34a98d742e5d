#include "solver/spectrum/kernel_polynomial.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace weft::solver {
namespace {

using std::numbers::pi;

double place_of(double energy, const SpectralInterval& interval) {
  return std::clamp((energy - interval.center()) / interval.half(), -1.0, 1.0);
}

}  // namespace

std::vector<double> kernel_factors(MomentKernel kernel, double lambda, int count) {
  std::vector<double> factors;
  const double n = count;
  for (int m = 0; m < count; ++m) {
    const double angle = pi * m / (n + 1);
    factors.push_back(
        kernel == MomentKernel::jackson
            ? ((n - m + 1) * std::cos(angle) + std::sin(angle) / std::tan(pi / (n + 1))) / (n + 1)
            : std::sinh(lambda * (1 - m / n)) / std::sinh(lambda));
  }
  return factors;
}

double kernel_width(MomentKernel kernel, double lambda, int count, const SpectralInterval& interval,
                    double energy) {
  const double x = place_of(energy, interval);
  const double of_angle = (kernel == MomentKernel::jackson ? pi : lambda) / count;
  // At the ends, where the slope of the cosine vanishes, its curvature remains.
  const double of_place = std::sqrt((1 - x * x) + x * x * of_angle * of_angle);
  return interval.half() * of_angle * of_place;
}

std::vector<std::vector<double>> densities(std::span<const std::vector<double>> moments,
                                           const SpectralInterval& interval,
                                           std::span<const double> energies) {
  const std::size_t count = moments.empty() ? 0 : moments.front().size();
  std::vector<std::vector<double>> densities;
  std::vector<double> polynomials(count);  // T_m(x), twice but for the first
  for (const double energy : energies) {
    const double x = place_of(energy, interval);
    const double angle = std::acos(x);
    for (std::size_t m = 0; m < count; ++m)
      polynomials[m] = (m == 0 ? 1 : 2) * std::cos(static_cast<double>(m) * angle);
    const double scale = 1 / (pi * interval.half() * std::sqrt(1 - x * x));
    std::vector<double>& of_vectors = densities.emplace_back();
    for (const std::vector<double>& of_one : moments) {
      double sum = 0;
      for (std::size_t m = 0; m < count; ++m) sum += of_one[m] * polynomials[m];
      of_vectors.push_back(scale * sum);
    }
  }
  return densities;
}

double density_integral(std::span<const double> moments, const SpectralInterval& interval,
                        double begin, double end) {
  // ∫T_m(x)/√(1 − x²) dx = −sin(m·θ)/m for x = cos θ, which falls where θ rises.
  const double from = std::acos(place_of(end, interval));
  const double to = std::acos(place_of(begin, interval));
  double sum = 0;
  for (std::size_t m = 0; m < moments.size(); ++m) {
    const auto number = static_cast<double>(m);
    sum += moments[m] *
           (m == 0 ? to - from : 2 * (std::sin(number * to) - std::sin(number * from)) / number);
  }
  return sum / pi;
}

std::vector<double> even_places(const SpectralInterval& interval, int count) {
  std::vector<double> energies;
  for (int k = 0; k < count; ++k)
    energies.push_back(interval.least + 2 * interval.half() * ((k + 0.5) / count));
  return energies;
}

}  // namespace weft::solver
