#pragma once

#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/modes/linear_operator.h"
#include "tools/roofline/roofline_kernel.h"

namespace weft::tools {

/// Arrays in the shape of an operator, first touched by the threads that use them, and the vector
/// kernels of the solvers on them.
///
/// Lifetime: outlives the kernels that it made. `op` outlives it.
class VectorKernels {
 public:
  /// `cache_bytes`: a core's second-level cache.
  VectorKernels(const spmv::LinearOperator& op, double cache_bytes);
  VectorKernels(const VectorKernels&) = delete;
  VectorKernels& operator=(const VectorKernels&) = delete;

  /// Dot products and the vector updates of all variants of CG, each one pass through memory.
  std::vector<RooflineKernel> kernels();

 private:
  /// Work of one pass on one segment.
  using OnSegment = std::function<void(std::size_t first, std::int64_t count)>;
  /// Work for one pass of one thread; `make` prepares its sums.
  using MakePass = std::function<void(const std::function<void(const OnSegment&)>& for_each)>;

  /// `arithmetic`: all operations for a row but loads and stores.
  RooflineKernel kernel(std::string name, std::string what, int read_count, int written_count,
                        int flops, const perfmodel::Operations& arithmetic, const MakePass& pass);
  std::vector<RooflineKernel> textbook_kernels();
  std::vector<RooflineKernel> one_reduction_kernels();
  double* array(std::size_t number) { return arrays_[number].data(); }

  const spmv::LinearOperator& op_;
  double cache_bytes_;
  double bound_;  // of sums of squares
  std::vector<perfmodel::HugePageBuffer<double>> arrays_;
};

}  // namespace weft::tools
