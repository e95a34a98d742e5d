#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "comm_thread/job/job.h"
#include "library/roofline/roofline_kernel.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::library {

/// The two fused passes of multigrid on the finest grid, as `--method multigrid` runs them with two
/// smoothing steps, on the box of this rank. Halos are computed as points of the rank's own.
///
/// Lifetime: outlives its kernels.
class MultigridKernels {
 public:
  /// Collective.
  MultigridKernels(comm_thread::Job& job, const spmv::Problem& problem);
  ~MultigridKernels();
  MultigridKernels(const MultigridKernels&) = delete;
  MultigridKernels& operator=(const MultigridKernels&) = delete;

  /// The same list on every rank.
  std::vector<RooflineKernel> kernels() const;

 private:
  struct Arrays;

  RooflineKernel down() const;
  RooflineKernel up() const;
  RooflineKernel kernel(std::string name, std::string what,
                        void (Arrays::*pass)(std::size_t thread)) const;

  spmv::StencilOperator op_;
  std::shared_ptr<Arrays> arrays_;
  std::vector<std::shared_ptr<Arrays>> in_cache_;  // [threads]
};

}  // namespace weft::library
