#include "solver/direct/small_matrix.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace weft::solver {
namespace {

/// The rotation that makes entry (p, q) of a symmetric matrix zero.
struct Rotation {
  double cosine;
  double sine;
};

Rotation rotation_for(double a_pp, double a_pq, double a_qq) {
  const double tau = (a_qq - a_pp) / (2 * a_pq);
  const double t = std::copysign(1.0, tau) / (std::abs(tau) + std::hypot(1.0, tau));
  const double cosine = 1 / std::hypot(1.0, t);
  return {cosine, t * cosine};
}

/// Columns p and q of a matrix, rotated.
void rotate_columns(SmallMatrix& matrix, int p, int q, const Rotation& rotation) {
  for (int i = 0; i < matrix.rows(); ++i) {
    const double of_p = matrix(i, p);
    const double of_q = matrix(i, q);
    matrix(i, p) = rotation.cosine * of_p - rotation.sine * of_q;
    matrix(i, q) = rotation.sine * of_p + rotation.cosine * of_q;
  }
}

/// One sweep over all pairs. Returns whether any rotation was needed.
bool sweep(SmallMatrix& a, SmallMatrix& vectors) {
  bool is_changed = false;
  const int size = a.rows();
  for (int p = 0; p < size; ++p)
    for (int q = p + 1; q < size; ++q) {
      const double negligible = 0x1p-53 * std::sqrt(std::abs(a(p, p) * a(q, q)));
      if (std::abs(a(p, q)) <= negligible || a(p, q) == 0) continue;
      is_changed = true;
      const Rotation rotation = rotation_for(a(p, p), a(p, q), a(q, q));
      rotate_columns(a, p, q, rotation);
      for (int i = 0; i < size; ++i) {  // rows, of which only the two change
        const double of_p = a(p, i);
        const double of_q = a(q, i);
        a(p, i) = rotation.cosine * of_p - rotation.sine * of_q;
        a(q, i) = rotation.sine * of_p + rotation.cosine * of_q;
      }
      a(p, q) = a(q, p) = 0;
      rotate_columns(vectors, p, q, rotation);
    }
  return is_changed;
}

SymmetricEigen eigen_by_rotations(const SmallMatrix& matrix) {
  constexpr int most_sweeps = 60;
  const int size = matrix.rows();
  SmallMatrix a(size, size);
  SmallMatrix vectors(size, size);
  for (int j = 0; j < size; ++j) {
    for (int i = 0; i <= j; ++i) a(i, j) = a(j, i) = matrix(i, j);
    vectors(j, j) = 1;
  }
  for (int done = 0; done < most_sweeps && sweep(a, vectors); ++done) {
  }
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int i, int j) { return a(i, i) != a(j, j) ? a(i, i) < a(j, j) : i < j; });
  SymmetricEigen result{.values = {}, .vectors = SmallMatrix(size, size)};
  for (int j = 0; j < size; ++j) {
    const int from = order[static_cast<std::size_t>(j)];
    result.values.push_back(a(from, from));
    for (int i = 0; i < size; ++i) result.vectors(i, j) = vectors(i, from);
  }
  return result;
}

/// Empty where QR does not converge, which it does in practice.
std::optional<SymmetricEigen> eigen_by_reduction(const SmallMatrix& matrix) {
  const int size = matrix.rows();
  Eigen::MatrixXd a(size, size);
  for (int j = 0; j < size; ++j)
    for (int i = 0; i <= j; ++i) a(j, i) = matrix(i, j);  // Eigen reads the lower triangle
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> found(a);
  if (found.info() != Eigen::Success) return std::nullopt;
  SymmetricEigen result{.values = {}, .vectors = SmallMatrix(size, size)};
  for (int j = 0; j < size; ++j) {
    result.values.push_back(found.eigenvalues()(j));
    for (int i = 0; i < size; ++i) result.vectors(i, j) = found.eigenvectors()(i, j);
  }
  return result;
}

}  // namespace

SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix result(a.rows(), b.columns());
  for (int j = 0; j < b.columns(); ++j)
    for (int k = 0; k < b.rows(); ++k)
      for (int i = 0; i < a.rows(); ++i) result(i, j) += a(i, k) * b(k, j);
  return result;
}

SymmetricEigen symmetric_eigen(const SmallMatrix& matrix) {
  if (matrix.rows() > most_rotated_rows)
    if (auto found = eigen_by_reduction(matrix)) return *std::move(found);
  return eigen_by_rotations(matrix);
}

}  // namespace weft::solver
