#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "library/roofline/roofline_kernel.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/sums/binned_sum.h"

namespace weft::library {

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
  const std::vector<RooflineKernel>& kernels() const { return kernels_; }

 private:
  /// Work of one pass on one segment.
  using OnSegment = std::function<void(std::size_t first, std::int64_t count)>;
  /// Work for one pass of one thread; `make` prepares its sums.
  using MakePass = std::function<void(const std::function<void(const OnSegment&)>& for_each)>;

  /// What a pass does with a row.
  struct Row {
    int read_count;  // written elements, too, have been read before
    int written_count;
    int flops;
    perfmodel::Operations arithmetic;  // all but loads and stores
  };
  void add(std::string name, std::string what, const Row& row, const MakePass& pass);
  /// A pass with sums of those bounds: work(first, count, sums).
  template <class Sum = spmv::CloseSum, std::size_t count, class Work>
  void add(std::string name, std::string what, const Row& row,
           const std::array<double, count>& bounds, const Work& work);
  double run_in_cache(const comm_thread::TeamThread& thread, const MakePass& pass,
                      int read_count) const;
  void add_textbook_kernels();
  void add_one_reduction_kernels();
  double* array(std::size_t number) { return arrays_[number].data(); }

  const spmv::LinearOperator& op_;
  double cache_bytes_;
  double bound_;  // of sums of squares
  std::vector<perfmodel::HugePageBuffer<double>> arrays_;
  std::vector<RooflineKernel> kernels_;
};

}  // namespace weft::library
