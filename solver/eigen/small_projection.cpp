#include "solver/eigen/small_projection.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "solver/panels/orthonormalised.h"

namespace weft::solver {
namespace {

/// The columns of a matrix that are named.
SmallMatrix columns_of(const SmallMatrix& matrix, std::span<const int> columns) {
  SmallMatrix part(matrix.rows(), static_cast<int>(columns.size()));
  for (int j = 0; j < part.columns(); ++j)
    for (int i = 0; i < part.rows(); ++i)
      part(i, j) = matrix(i, columns[static_cast<std::size_t>(j)]);
  return part;
}

SmallMatrix transposed(const SmallMatrix& matrix) {
  SmallMatrix result(matrix.columns(), matrix.rows());
  for (int j = 0; j < matrix.columns(); ++j)
    for (int i = 0; i < matrix.rows(); ++i) result(j, i) = matrix(i, j);
  return result;
}

/// The part of Y that no vector of Z has, for Z with orthonormal columns.
SmallMatrix without(const SmallMatrix& z, const SmallMatrix& y) {
  SmallMatrix result = y;
  for (int pass = 0; pass < 2; ++pass) {
    const SmallMatrix found = product(z, product(transposed(z), result));
    for (int j = 0; j < result.columns(); ++j)
      for (int i = 0; i < result.rows(); ++i) result(i, j) -= found(i, j);
  }
  return result;
}

}  // namespace

Projection project(const SmallMatrix& of_a, const SmallMatrix& of_b, SpectrumEnd end, int block,
                   int rows_of_w, std::span<const int> columns) {
  constexpr double least = 1e-13;
  const Orthonormalised basis = orthonormalising(of_b, least);
  std::vector<int> kept(static_cast<std::size_t>(of_b.columns() - basis.dropped));
  std::iota(kept.begin(), kept.end(), basis.dropped);
  const SmallMatrix factor = columns_of(basis.factor, kept);
  SymmetricEigen found = symmetric_eigen(product(transposed(factor), product(of_a, factor)));
  const int size = static_cast<int>(found.values.size());
  std::vector<int> order;
  for (int i = 0; i < std::min(block, size); ++i)
    order.push_back(end == SpectrumEnd::smallest ? i : size - 1 - i);
  Projection result;
  for (const int i : order) result.values.push_back(found.values[static_cast<std::size_t>(i)]);
  const SmallMatrix ritz = columns_of(found.vectors, order);
  result.vectors = product(factor, ritz);
  if (columns.empty()) return result;
  SmallMatrix rest = columns_of(result.vectors, columns);
  for (int j = 0; j < rest.columns(); ++j)
    for (int i = 0; i < rows_of_w; ++i) rest(i, j) = 0;
  const SmallMatrix in_basis = without(ritz, product(transposed(factor), product(of_b, rest)));
  const Orthonormalised made = orthonormalising(product(transposed(in_basis), in_basis), least);
  result.directions = product(factor, product(in_basis, made.factor));
  return result;
}

}  // namespace weft::solver
