// Replaces klu_factor.cpp in builds without SuiteSparse: factors with Eigen, whose licence is the
// Mozilla Public License 2.
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <cstddef>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "solver/direct/klu_factor.h"

namespace weft::solver {

class KluFactor::Implementation {
 public:
  explicit Implementation(const LocalMatrix& matrix)
      : solution_(static_cast<Eigen::Index>(matrix.size())) {
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(matrix.values.size());
    for (std::size_t row = 0; row < matrix.size(); ++row)
      for (int k = matrix.row_begin[row]; k < matrix.row_begin[row + 1]; ++k)
        entries.emplace_back(static_cast<int>(row), matrix.columns[static_cast<std::size_t>(k)],
                             matrix.values[static_cast<std::size_t>(k)]);
    Matrix assembled(solution_.size(), solution_.size());
    assembled.setFromTriplets(entries.begin(), entries.end());
    factor_.compute(assembled);
  }

  bool is_regular() const { return factor_.info() == Eigen::Success; }

  std::span<const double> solve(std::span<double> right_hand_side) {
    const Eigen::Map<const Eigen::VectorXd> b(right_hand_side.data(), solution_.size());
    solution_ = factor_.solve(b);
    return {solution_.data(), right_hand_side.size()};
  }

 private:
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

  Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>> factor_;
  Eigen::VectorXd solution_;
};

KluFactor::KluFactor(const LocalMatrix& matrix, const std::string& fault)
    : implementation_(std::make_unique<Implementation>(matrix)) {
  if (!implementation_->is_regular()) throw comm_thread::InputError(fault);
}

KluFactor::~KluFactor() = default;

std::span<const double> KluFactor::solve(int /*thread*/, std::span<double> right_hand_side) {
  return implementation_->solve(right_hand_side);
}

}  // namespace weft::solver
