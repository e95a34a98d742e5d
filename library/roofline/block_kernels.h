#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/roofline/kernel_race.h"
#include "library/roofline/roofline_kernel.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_vector.h"

namespace weft::library {

/// Y = A·X for 2, 4, 8 and 16 vectors at once in CRS, without the halo: the matrix is read once for
/// all of them.
///
/// Bytes: 12 a nonzero, or 6 where values are numbered, 8 + 24 · width a row: X once, Y with
/// write-allocate. What is loaded of X again, because a row of it falls out of the caches, a
/// simulated cache tells. Lifetime: outlives the kernels that it made. `op` outlives it.
class BlockKernels {
 public:
  /// `cache_bytes`: of all caches that a thread can count on. Collective.
  BlockKernels(const comm_thread::Job& job, spmv::SparseOperator& op, double cache_bytes);
  BlockKernels(const BlockKernels&) = delete;
  BlockKernels& operator=(const BlockKernels&) = delete;

  /// The same list on every rank.
  std::vector<RooflineKernel> kernels();

 private:
  RooflineKernel kernel(int width);
  double reload_bytes(int width) const;

  const comm_thread::Job& job_;
  spmv::SparseOperator& op_;
  double cache_bytes_;
  std::unique_ptr<spmv::HaloVector<double>> x_;  // of the widest block
  perfmodel::HugePageBuffer<double> y_;
  double rows_ = 0;  // of this rank
  double nonzeros_ = 0;
  double matrix_bytes_ = 0;
};

/// A sentence about the width that suits: the narrowest within 5 % of the least time for each
/// vector. Empty where there are no blocks.
std::string width_that_suits(const std::vector<KernelResult>& results);

}  // namespace weft::library
