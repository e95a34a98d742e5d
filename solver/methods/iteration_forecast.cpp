#include "solver/methods/iteration_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft::solver {
namespace {

/// Largest eigenvalue by the smallest, without corner points; with them it is about the same.
double condition_number(const spmv::GridStencil& stencil) {
  const std::array<double, 3> sizes{static_cast<double>(stencil.grid.x),
                                    static_cast<double>(stencil.grid.y),
                                    static_cast<double>(stencil.grid.z)};
  double smallest = 0;
  double largest = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const double angle = std::numbers::pi / (2 * (sizes[d] + 1));
    smallest += 4 * stencil.weights[d] * std::pow(std::sin(angle), 2);
    largest += 4 * stencil.weights[d] * std::pow(std::cos(angle), 2);
  }
  return largest / smallest;
}

}  // namespace

double forecast_iterations(bool is_multigrid, const spmv::GridStencil& stencil,
                           const StopCriterion& stop) {
  // Of an absolute tolerance nobody knows how far it is below b.
  const double tolerance = std::max(stop.tolerance, std::numeric_limits<double>::epsilon());
  const double iterations =
      is_multigrid ? -std::log10(tolerance)
                   : std::sqrt(condition_number(stencil)) / 4 * std::log(2 / tolerance);
  return std::clamp(iterations, 1.0, static_cast<double>(stencil.row_count()));
}

}  // namespace weft::solver
