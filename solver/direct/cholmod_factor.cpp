#include "solver/direct/cholmod_factor.h"

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

constexpr int lower_triangle = -1;

cholmod_sparse* assemble(const LowerTriangle& matrix, cholmod_common& common) {
  cholmod_triplet* triplet = cholmod_allocate_triplet(
      matrix.size, matrix.size, matrix.entries.size(), lower_triangle, CHOLMOD_REAL, &common);
  for (const LowerTriangle::Entry& entry : matrix.entries) {
    static_cast<int*>(triplet->i)[triplet->nnz] = entry.row;
    static_cast<int*>(triplet->j)[triplet->nnz] = entry.column;
    static_cast<double*>(triplet->x)[triplet->nnz] = entry.value;
    ++triplet->nnz;
  }
  cholmod_sparse* assembled = cholmod_triplet_to_sparse(triplet, 0, &common);
  cholmod_free_triplet(&triplet, &common);
  return assembled;
}

}  // namespace

CholmodFactor::Workspace::~Workspace() {
  cholmod_free_dense(&solution, &common);
  cholmod_free_dense(&permuted, &common);
  cholmod_free_dense(&sparse_part, &common);
  cholmod_finish(&common);
}

CholmodFactor::CholmodFactor(const LowerTriangle& matrix, int thread_count,
                             const std::string& fault) {
  cholmod_start(&common_);
  common_.supernodal = CHOLMOD_SIMPLICIAL;
  common_.final_ll = true;
  common_.print = 0;
  cholmod_sparse* assembled = assemble(matrix, common_);
  factor_ = cholmod_analyze(assembled, &common_);
  cholmod_factorize(assembled, factor_, &common_);
  cholmod_free_sparse(&assembled, &common_);
  const bool is_definite = common_.status == CHOLMOD_OK;
  for (int thread = 0; is_definite && thread < thread_count; ++thread)
    workspaces_.push_back(std::make_unique<Workspace>());
  if (is_definite) return;
  cholmod_free_factor(&factor_, &common_);
  cholmod_finish(&common_);
  throw comm_thread::InputError(fault);
}

CholmodFactor::~CholmodFactor() {
  cholmod_free_factor(&factor_, &common_);
  cholmod_finish(&common_);
}

std::span<const double> CholmodFactor::solve(int thread, std::span<double> right_hand_side) {
  Workspace& workspace = *workspaces_[static_cast<std::size_t>(thread)];
  cholmod_dense b{};
  b.nrow = b.nzmax = b.d = right_hand_side.size();
  b.ncol = 1;
  b.x = right_hand_side.data();
  b.xtype = CHOLMOD_REAL;
  b.dtype = CHOLMOD_DOUBLE;
  cholmod_solve2(CHOLMOD_A, factor_, &b, nullptr, &workspace.solution, nullptr, &workspace.permuted,
                 &workspace.sparse_part, &workspace.common);
  return {static_cast<const double*>(workspace.solution->x), right_hand_side.size()};
}

double CholmodFactor::forecast_bytes(const LowerTriangle& matrix) {
  cholmod_common common{};
  cholmod_start(&common);
  common.supernodal = CHOLMOD_SIMPLICIAL;
  common.print = 0;
  cholmod_sparse* assembled = assemble(matrix, common);
  cholmod_factor* factor = cholmod_analyze(assembled, &common);
  const double bytes_per_nonzero = sizeof(double) + sizeof(int);
  const double bytes_per_row = 6 * sizeof(int) + 4 * sizeof(double);
  // Columns of a simplicial factor get room to grow.
  const double bytes = factor ? common.grow1 * bytes_per_nonzero * common.lnz +
                                    bytes_per_row * static_cast<double>(matrix.size)
                              : 0;
  cholmod_free_factor(&factor, &common);
  cholmod_free_sparse(&assembled, &common);
  cholmod_finish(&common);
  return bytes;
}

}  // namespace weft::solver
