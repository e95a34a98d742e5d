#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/roofline/roofline_kernel.h"
#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/stencil.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/grid/time_blocking.h"

namespace weft::library {

/// Kernels of the solvers for grids without a stored matrix, on the box of this rank: the product,
/// the single-pass CG iteration and, for the 7-point Laplacian, Jacobi sweeps, one by one and
/// several in one pass through memory.
///
/// Lifetime: outlives its kernels.
class GridKernels {
 public:
  /// `l2_bytes`: a core's second-level cache. Collective.
  GridKernels(comm_thread::Job& job, const spmv::Problem& problem, double l2_bytes);
  GridKernels(const GridKernels&) = delete;
  GridKernels& operator=(const GridKernels&) = delete;

  /// The same list on every rank. Collective.
  std::vector<RooflineKernel> collective_kernels();

 private:
  using Array = perfmodel::HugePageBuffer<double>;
  /// Arrays of one thread's own slab, or of a few points that stay in cache.
  struct Slab {
    Slab(const spmv::GridBox& box, std::size_t array_count);
    spmv::GridLayout layout;
    std::vector<Array> arrays;
  };
  /// One pass over a slab.
  using Pass = std::function<void(Slab&)>;

  using Slabs = std::vector<std::unique_ptr<Slab>>;  // [thread_count]
  struct SharedSlabs {
    std::shared_ptr<const Slabs> whole;
    std::shared_ptr<const Slabs> in_cache;
  };

  Slabs make_slabs(std::size_t array_count, bool is_in_cache);
  RooflineKernel kernel(std::string name, std::string what, std::size_t array_count,
                        const Pass& pass);
  std::vector<RooflineKernel> product_kernels();
  std::vector<RooflineKernel> cg_kernels();
  std::vector<RooflineKernel> collective_sweep_kernels();
  RooflineKernel blocked_sweeps(int height);
  /// `operations`, `prefetches` of lines for eight points: of a point.
  perfmodel::CoreWork work(const perfmodel::Operations& operations, int prefetches) const;

  comm_thread::Job& job_;
  double l2_bytes_;
  spmv::StencilOperator op_;
  double points_;  // of this rank
  bool has_sweeps_;
  std::map<std::size_t, SharedSlabs> slabs_;  // by the number of arrays
};

}  // namespace weft::library
