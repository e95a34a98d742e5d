#include "solver/panels/orthonormalised.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace weft::solver {

Orthonormalised orthonormalising(const SmallMatrix& gram, double least) {
  const int size = gram.rows();
  std::vector<double> scale;
  for (int i = 0; i < size; ++i) scale.push_back(gram(i, i) > 0 ? 1 / std::sqrt(gram(i, i)) : 0.0);
  SmallMatrix correlation(size, size);
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i)
      correlation(i, j) =
          gram(i, j) * scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)];
  const SymmetricEigen eigen = symmetric_eigen(correlation);
  Orthonormalised result{.factor = SmallMatrix(size, size),
                         .inverse = SmallMatrix(size, size),
                         .smallest = eigen.values.front()};
  for (int j = 0; j < size; ++j) {
    const double value = eigen.values[static_cast<std::size_t>(j)];
    if (!(value > least)) {
      ++result.dropped;
      continue;
    }
    for (int i = 0; i < size; ++i) {
      const double of_column = scale[static_cast<std::size_t>(i)];
      result.factor(i, j) = of_column * eigen.vectors(i, j) / std::sqrt(value);
      result.inverse(j, i) =
          of_column > 0 ? eigen.vectors(i, j) * std::sqrt(value) / of_column : 0.0;
    }
  }
  return result;
}

SmallMatrix collective_orthonormalise(BlockBasis& basis, int count, double* y, bool is_rough,
                                      std::int64_t& random_columns) {
  // Squared, beside a column. What is dropped is lost to a search: with 1e-6 copies of a value have
  // stayed above the tolerance for good.
  constexpr double least = 1e-12;
  constexpr double well_apart = 0.1;
  constexpr int most_tries = 8;
  SmallMatrix coupling;
  for (int tries = 0; tries < most_tries; ++tries) {
    const SmallMatrix gram = basis.collective_gram(y);
    // What is left of vectors that were mostly along those before still has parts along them.
    constexpr double half = 0.5;
    for (int i = 0; tries > 0 && i < gram.rows(); ++i) is_rough |= gram(i, i) < half * half;
    const Orthonormalised made = orthonormalising(gram, least);
    basis.multiply(made.factor, y);
    coupling = tries == 0 ? made.inverse : product(made.inverse, coupling);
    if (made.dropped > 0) {
      basis.fill_columns_randomly(y, made.dropped, random_columns);
      random_columns += made.dropped;
      is_rough = true;
      continue;
    }
    if (!is_rough && made.smallest > well_apart) break;
    basis.subtract(count, basis.collective_products(count, y), y);
    is_rough = false;
  }
  return coupling;
}

}  // namespace weft::solver
