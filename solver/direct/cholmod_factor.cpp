#include "solver/direct/cholmod_factor.h"

#include <cholmod.h>

#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"

namespace weft::solver {
namespace {

constexpr int lower_triangle = -1;

/// Null where there is not enough memory, or more entries than `int` can count.
cholmod_sparse* assemble(const LowerTriangle& matrix, cholmod_common& common) {
  cholmod_triplet* triplet = cholmod_allocate_triplet(
      matrix.size, matrix.size, matrix.entries.size(), lower_triangle, CHOLMOD_REAL, &common);
  if (!triplet) return nullptr;
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

/// Workspace of one thread's solves.
struct alignas(64) Workspace {
  Workspace() { cholmod_start(&common); }
  ~Workspace() {
    cholmod_free_dense(&solution, &common);
    cholmod_free_dense(&permuted, &common);
    cholmod_free_dense(&sparse_part, &common);
    cholmod_finish(&common);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  cholmod_common common{};
  cholmod_dense* solution = nullptr;
  cholmod_dense* permuted = nullptr;
  cholmod_dense* sparse_part = nullptr;
};

}  // namespace

class CholmodFactor::Implementation {
 public:
  Implementation(const LowerTriangle& matrix, int thread_count) {
    cholmod_start(&common_);
    common_.supernodal = CHOLMOD_SIMPLICIAL;
    common_.final_ll = true;
    common_.print = 0;
    cholmod_sparse* assembled = assemble(matrix, common_);
    if (assembled) factor_ = cholmod_analyze(assembled, &common_);
    if (factor_) cholmod_factorize(assembled, factor_, &common_);
    cholmod_free_sparse(&assembled, &common_);
    for (int thread = 0; is_complete() && thread < thread_count; ++thread)
      workspaces_.push_back(std::make_unique<Workspace>());
  }
  ~Implementation() {
    cholmod_free_factor(&factor_, &common_);
    cholmod_finish(&common_);
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  bool is_complete() const { return common_.status == CHOLMOD_OK; }
  bool is_too_large() const {
    return common_.status == CHOLMOD_TOO_LARGE || common_.status == CHOLMOD_OUT_OF_MEMORY;
  }

  std::span<const double> solve(int thread, std::span<double> right_hand_side) {
    Workspace& workspace = *workspaces_[static_cast<std::size_t>(thread)];
    cholmod_dense b{};
    b.nrow = b.nzmax = b.d = right_hand_side.size();
    b.ncol = 1;
    b.x = right_hand_side.data();
    b.xtype = CHOLMOD_REAL;
    b.dtype = CHOLMOD_DOUBLE;
    cholmod_solve2(CHOLMOD_A, factor_, &b, nullptr, &workspace.solution, nullptr,
                   &workspace.permuted, &workspace.sparse_part, &workspace.common);
    return {static_cast<const double*>(workspace.solution->x), right_hand_side.size()};
  }

 private:
  cholmod_common common_{};  // of the factor
  cholmod_factor* factor_ = nullptr;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // one for each thread
};

CholmodFactor::CholmodFactor(const LowerTriangle& matrix, int thread_count,
                             const std::string& fault)
    : implementation_(std::make_unique<Implementation>(matrix, thread_count)) {
  if (implementation_->is_too_large())
    throw FactorTooLarge(
        fmt::format("the Cholesky factor of a matrix of {} rows needs more memory than there is, "
                    "or than CHOLMOD can address; expected smaller ones: more subdomains",
                    matrix.size));
  if (!implementation_->is_complete()) throw comm_thread::InputError(fault);
}

CholmodFactor::~CholmodFactor() = default;

std::span<const double> CholmodFactor::solve(int thread, std::span<double> right_hand_side) {
  return implementation_->solve(thread, right_hand_side);
}

std::string CholmodFactor::library_version() {
  return "CHOLMOD " + std::to_string(CHOLMOD_MAIN_VERSION) + "." +
         std::to_string(CHOLMOD_SUB_VERSION) + "." + std::to_string(CHOLMOD_SUBSUB_VERSION);
}

double CholmodFactor::forecast_bytes(const LowerTriangle& matrix) {
  cholmod_common common{};
  cholmod_start(&common);
  common.supernodal = CHOLMOD_SIMPLICIAL;
  common.print = 0;
  cholmod_sparse* assembled = assemble(matrix, common);
  cholmod_factor* factor = assembled ? cholmod_analyze(assembled, &common) : nullptr;
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
