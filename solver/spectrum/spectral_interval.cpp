#include "solver/spectrum/spectral_interval.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "solver/direct/small_matrix.h"
#include "solver/direct/tridiagonal_spectrum.h"
#include "solver/panels/block_basis.h"
#include "solver/panels/chebyshev_filter.h"

namespace weft::solver {
namespace {

constexpr std::int64_t most_steps = 40;
/// Of the width, that the interval is wider on each side.
constexpr double margin = 0.01;
/// Names the random vector: no column of a density has this number.
constexpr std::int64_t lanczos_column = std::int64_t{1} << 40;

/// The tridiagonal matrix of Lanczos, and the norm of what comes next.
struct Recurrence {
  std::vector<double> diagonal;
  std::vector<double> beside;
  double rest = 0;
};

Recurrence collective_lanczos(spmv::SparseOperator& op, spmv::Mode mode) {
  PanelFilter product(op, 1, mode);
  BlockBasis basis(op, 1, 3, 1);  // the last vector but one, the last, the next
  Recurrence found;
  const double unit = collective_widest_interval(op).greatest;  // products are no longer than 1
  const auto collective_normalise = [&](double* vector) {
    const double norm = std::sqrt(basis.collective_gram(vector)(0, 0));
    SmallMatrix factor(1, 1);
    factor(0, 0) = norm > 0 ? 1 / norm : 0.0;
    basis.multiply(factor, vector);
    return norm;
  };
  basis.fill_columns_randomly(basis.panel(1), 1, lanczos_column);
  collective_normalise(basis.panel(1));
  const std::int64_t steps = std::min(most_steps, op.global_row_count());
  double scale = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    double* const next = basis.panel(2);
    product.collective_apply(FilterPolynomial::scaled(unit), basis.panel(1), next);
    const SmallMatrix parts = basis.collective_products(2, next);
    basis.subtract(2, parts, next);
    found.diagonal.push_back(unit * parts(1, 0));
    found.rest = unit * collective_normalise(next);
    scale = std::max({scale, std::abs(found.diagonal.back()), found.rest});
    // What is left is rounding: the vectors span all that the first one reaches.
    if (!(found.rest > 1e-13 * scale)) found.rest = 0;
    if (found.rest == 0 || step + 1 == steps) break;
    found.beside.push_back(found.rest);
    basis.exchange(0, 1);
    basis.exchange(1, 2);
  }
  return found;
}

}  // namespace

SpectralInterval collective_widest_interval(const spmv::SparseOperator& op) {
  const double norm = op.collective_norm();
  const double most = norm > 0 ? norm : 1.0;
  return {.least = -most, .greatest = most};
}

SpectralInterval collective_spectral_interval(spmv::SparseOperator& op, spmv::Mode mode) {
  const Recurrence found = collective_lanczos(op, mode);
  const TridiagonalSpectrum ritz = tridiagonal_spectrum(found.diagonal, found.beside);
  const auto [first, last] = std::ranges::minmax_element(ritz.values);
  // By how far a Ritz value may be wrong: the last entry of its vector times the norm of the rest.
  const std::size_t size = ritz.values.size();
  const auto error_of = [&](auto value) {
    const auto column = static_cast<std::size_t>(value - ritz.values.begin());
    return found.rest * std::abs(ritz.vectors[(size - 1) * size + column]);
  };
  const SpectralInterval widest = collective_widest_interval(op);
  const double least = *first - error_of(first);
  const double greatest = *last + error_of(last);
  // Equal eigenvalues leave no width; neighbouring numbers leave none that products can resolve.
  const double room = std::max(margin * (greatest - least), 1e-6 * widest.greatest);
  return {.least = std::max(least - room, widest.least - room),
          .greatest = std::min(greatest + room, widest.greatest + room)};
}

}  // namespace weft::solver
