// Replaces cholmod_factor.cpp in builds without CHOLMOD: factors with Eigen, whose licence is the
// Mozilla Public License 2.
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "solver/direct/cholmod_factor.h"

namespace weft::solver {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

Matrix assemble(const LowerTriangle& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(matrix.entries.size());
  for (const LowerTriangle::Entry& entry : matrix.entries)
    entries.emplace_back(entry.row, entry.column, entry.value);
  const auto size = static_cast<Eigen::Index>(matrix.size);
  Matrix assembled(size, size);
  assembled.setFromTriplets(entries.begin(), entries.end());
  return assembled;
}

}  // namespace

class CholmodFactor::Implementation {
 public:
  Implementation(const LowerTriangle& matrix, int thread_count)
      : factor_(assemble(matrix)), workspaces_(static_cast<std::size_t>(thread_count)) {
    for (Workspace& workspace : workspaces_) {
      workspace.permuted.resize(static_cast<Eigen::Index>(matrix.size));
      workspace.solution.resize(static_cast<Eigen::Index>(matrix.size));
    }
  }

  bool is_definite() const { return factor_.info() == Eigen::Success; }

  std::span<const double> solve(int thread, std::span<double> right_hand_side) {
    Workspace& workspace = workspaces_[static_cast<std::size_t>(thread)];
    const Eigen::Map<const Eigen::VectorXd> b(right_hand_side.data(),
                                              static_cast<Eigen::Index>(right_hand_side.size()));
    workspace.permuted.noalias() = factor_.permutationP() * b;
    factor_.matrixL().solveInPlace(workspace.permuted);
    factor_.matrixU().solveInPlace(workspace.permuted);
    workspace.solution.noalias() = factor_.permutationPinv() * workspace.permuted;
    return {workspace.solution.data(), right_hand_side.size()};
  }

 private:
  struct alignas(64) Workspace {
    Eigen::VectorXd permuted;
    Eigen::VectorXd solution;
  };

  Eigen::SimplicialLLT<Matrix, Eigen::Lower, Eigen::AMDOrdering<int>> factor_;
  std::vector<Workspace> workspaces_;  // one for each thread
};

CholmodFactor::CholmodFactor(const LowerTriangle& matrix, int thread_count,
                             const std::string& fault)
    : implementation_(std::make_unique<Implementation>(matrix, thread_count)) {
  if (!implementation_->is_definite()) throw comm_thread::InputError(fault);
}

CholmodFactor::~CholmodFactor() = default;

std::span<const double> CholmodFactor::solve(int thread, std::span<double> right_hand_side) {
  return implementation_->solve(thread, right_hand_side);
}

/// Eigen does not tell the size of a factor before it has one.
double CholmodFactor::forecast_bytes(const LowerTriangle&) { return 0; }

std::string CholmodFactor::library_version() {
  return "missing, Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
         std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION) +
         " in its place";
}

}  // namespace weft::solver
