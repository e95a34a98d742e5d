#include "solver/panels/lanczos_recurrence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "solver/direct/small_matrix.h"
#include "solver/direct/tridiagonal_spectrum.h"

namespace weft::solver {
LanczosRecurrence::LanczosRecurrence(spmv::SparseOperator& op, spmv::Mode mode, SearchSteps* steps)
    : unit_(op.collective_norm() > 0 ? op.collective_norm() : 1.0),
      product_(op, 1, mode),
      basis_(op, 1, 3, 1) {
  product_.record(steps);
  basis_.record(steps);
  basis_.fill_columns_randomly(basis_.panel(1), 1, random_column);
  collective_normalise(basis_.panel(1));
}

double LanczosRecurrence::collective_normalise(double* vector) {
  const double norm = std::sqrt(basis_.collective_gram(vector)(0, 0));
  SmallMatrix factor(1, 1);
  factor(0, 0) = norm > 0 ? 1 / norm : 0.0;
  basis_.multiply(factor, vector);
  return norm;
}

void LanczosRecurrence::collective_step() {
  if (!diagonal_.empty()) {
    basis_.exchange(0, 1);
    basis_.exchange(1, 2);
  }
  double* const next = basis_.panel(2);
  product_.collective_apply(FilterPolynomial::scaled(unit_), basis_.panel(1), next);
  const SmallMatrix parts = basis_.collective_products(2, next);
  basis_.subtract(2, parts, next);
  diagonal_.push_back(unit_ * parts(1, 0));
  beside_.push_back(unit_ * collective_normalise(next));
  scale_ = std::max({scale_, std::abs(diagonal_.back()), beside_.back()});
  // What is left is rounding: the vectors span all that the first one reaches.
  is_whole_ = !(beside_.back() > 1e-13 * scale_);
  if (is_whole_) beside_.back() = 0;
}

void LanczosRecurrence::collective_go_on(std::int64_t steps) {
  while (!is_whole_ && step_count() < steps) collective_step();
}

RitzValues LanczosRecurrence::ritz_values() const {
  const TridiagonalEnds found = tridiagonal_ends(diagonal_, beside_);
  std::vector<std::size_t> order(found.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return std::pair(found.values[one], one) < std::pair(found.values[other], other);
  });
  RitzValues ritz;
  for (const std::size_t number : order) {
    ritz.values.push_back(found.values[number]);
    ritz.errors.push_back(beside_.back() * std::abs(found.last[number]));
    ritz.weights.push_back(found.first[number] * found.first[number]);
  }
  return ritz;
}

}  // namespace weft::solver
