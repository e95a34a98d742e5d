#include "tests/system/direct_solver.h"

#include <algorithm>
#include <cmath>

namespace weft::tests {
namespace {

constexpr int inverse_iterations = 40;
constexpr int lower_triangle = -1;

}  // namespace

DirectSolver::DirectSolver(const MatrixFile& matrix) : row_count_(matrix.row_count) {
  cholmod_start(&common_);
  cholmod_triplet* triplet = cholmod_allocate_triplet(row_count_, row_count_, matrix.entries.size(),
                                                      lower_triangle, CHOLMOD_REAL, &common_);
  for (const auto& entry : matrix.entries) {
    if (entry.row < entry.column) continue;
    static_cast<int*>(triplet->i)[triplet->nnz] = static_cast<int>(entry.row);
    static_cast<int*>(triplet->j)[triplet->nnz] = static_cast<int>(entry.column);
    static_cast<double*>(triplet->x)[triplet->nnz] = entry.value;
    ++triplet->nnz;
  }
  cholmod_sparse* sparse = cholmod_triplet_to_sparse(triplet, 0, &common_);
  factor_ = cholmod_analyze(sparse, &common_);
  cholmod_factorize(sparse, factor_, &common_);
  cholmod_free_sparse(&sparse, &common_);
  cholmod_free_triplet(&triplet, &common_);
}

DirectSolver::~DirectSolver() {
  cholmod_free_factor(&factor_, &common_);
  cholmod_finish(&common_);
}

bool DirectSolver::is_positive_definite() const { return common_.status == CHOLMOD_OK; }

std::vector<double> DirectSolver::solve(std::span<const double> b) {
  cholmod_dense* right = cholmod_zeros(row_count_, 1, CHOLMOD_REAL, &common_);
  std::copy(b.begin(), b.end(), static_cast<double*>(right->x));
  cholmod_dense* solution = cholmod_solve(CHOLMOD_A, factor_, right, &common_);
  const auto* const values = static_cast<const double*>(solution->x);
  std::vector<double> x(values, values + row_count_);
  cholmod_free_dense(&right, &common_);
  cholmod_free_dense(&solution, &common_);
  return x;
}

double DirectSolver::norm_of_inverse() {
  std::vector<double> vector(row_count_);
  for (std::size_t i = 0; i < row_count_; ++i)
    vector[i] = 1 + 0.5 * std::sin(static_cast<double>(i));
  double growth = 0;
  for (int i = 0; i < inverse_iterations; ++i) {
    const double length = norm(vector);
    for (double& value : vector) value /= length;
    vector = solve(vector);
    growth = norm(vector);
  }
  return growth;
}

double norm_bound(const MatrixFile& matrix) {
  std::vector<double> sums(matrix.row_count);
  for (const auto& entry : matrix.entries) sums[entry.row] += std::abs(entry.value);
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace weft::tests
