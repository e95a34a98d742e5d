#include "solver/direct/small_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver {
namespace {

/// max |(A·V − V·Λ)| and max |VᵀV − I|.
struct Errors {
  double residual = 0;
  double orthogonality = 0;
};

Errors errors_of(const SmallMatrix& a, const SymmetricEigen& eigen) {
  Errors errors;
  const int size = a.rows();
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i) {
      double residual = -eigen.values[static_cast<std::size_t>(j)] * eigen.vectors(i, j);
      double product = i == j ? -1 : 0;
      for (int k = 0; k < size; ++k) {
        residual += (i <= k ? a(i, k) : a(k, i)) * eigen.vectors(k, j);
        product += eigen.vectors(k, i) * eigen.vectors(k, j);
      }
      errors.residual = std::max(errors.residual, std::abs(residual));
      errors.orthogonality = std::max(errors.orthogonality, std::abs(product));
    }
  return errors;
}

TEST_CASE("eigenvalues ascend, and their vectors are orthonormal") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> entry(-1, 1);
  for (const int size : {1, 2, 3, 17, 32, 33, 90}) {
    SmallMatrix a(size, size);
    for (int j = 0; j < size; ++j)
      for (int i = 0; i <= j; ++i) a(i, j) = entry(random);
    const SymmetricEigen eigen = symmetric_eigen(a);
    CHECK(std::is_sorted(eigen.values.begin(), eigen.values.end()));
    const Errors errors = errors_of(a, eigen);
    CHECK(errors.residual < 1e-13);
    CHECK(errors.orthogonality < 1e-13);
  }
}

TEST_CASE("only the upper triangle is read, and equal eigenvalues have different vectors") {
  SmallMatrix a(3, 3);
  a(0, 0) = a(1, 1) = a(2, 2) = 2;
  a(2, 0) = 77;
  const SymmetricEigen eigen = symmetric_eigen(a);
  CHECK(eigen.values == std::vector<double>{2, 2, 2});
  CHECK(errors_of(a, eigen).orthogonality == 0);
}

TEST_CASE("small eigenvalues of a graded matrix are found to their own digits") {
  // D·B·D with B = [[1, 1/2], [1/2, 1]] and D = diag(1, 1e-10): the product of both eigenvalues is
  // the determinant, 0.75e-20, and the larger one is 1 but for 1e-20.
  SmallMatrix a(2, 2);
  a(0, 0) = 1;
  a(0, 1) = 0.5e-10;
  a(1, 1) = 1e-20;
  const SymmetricEigen eigen = symmetric_eigen(a);
  CHECK(eigen.values[0] == Approx(0.75e-20).epsilon(1e-14));
  CHECK(eigen.values[1] == Approx(1).epsilon(1e-14));
}

}  // namespace
}  // namespace weft::solver
