#pragma once

#include <memory>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/roofline/block_kernels.h"
#include "library/roofline/grid_kernels.h"
#include "library/roofline/matrix_kernels.h"
#include "library/roofline/multigrid_kernels.h"
#include "library/roofline/roofline_kernel.h"
#include "library/roofline/vector_kernels.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// A thread's share of a second-level cache, or of the last one where there is no second.
double second_level_bytes(const comm_thread::Job& job);

/// All kernels that a problem has, and what they work on. Lifetime: inside that of `job` and `op`.
class ProblemKernels {
 public:
  /// Collective.
  ProblemKernels(comm_thread::Job& job, const spmv::Problem& problem, spmv::SparseOperator& op);

  std::vector<RooflineKernel>& list() { return list_; }

 private:
  MatrixKernels matrix_;
  BlockKernels block_;
  VectorKernels vector_;
  std::unique_ptr<GridKernels> grid_;
  std::unique_ptr<MultigridKernels> multigrid_;
  std::vector<RooflineKernel> list_;
};

}  // namespace weft::library
