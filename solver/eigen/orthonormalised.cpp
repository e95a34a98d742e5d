#include "solver/eigen/orthonormalised.h"

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

}  // namespace weft::solver
