#include "library/roofline/problem_kernels.h"

#include <algorithm>

namespace weft::library {
namespace {

/// A thread's share.
double last_cache_bytes(const comm_thread::Job& job) {
  const auto last = job.topology().last_cache_of(job.placement().compute_pus.front());
  return static_cast<double>(last.bytes) /
         std::min(last.sharing_pus, job.team().thread_count() * job.ranks_on_node());
}

}  // namespace

double second_level_bytes(const comm_thread::Job& job) {
  const unsigned pu = job.placement().compute_pus.front();
  const auto l2 = job.topology().cache_of(pu, 2).value_or(job.topology().last_cache_of(pu));
  return static_cast<double>(l2.bytes) / l2.sharing_pus;
}

ProblemKernels::ProblemKernels(comm_thread::Job& job, const spmv::Problem& problem,
                               spmv::SparseOperator& op)
    : matrix_(job, op, second_level_bytes(job), last_cache_bytes(job)),
      block_(job, op, last_cache_bytes(job)),
      vector_(op, second_level_bytes(job)) {
  const auto add = [&](const std::vector<RooflineKernel>& more) {
    list_.insert(list_.end(), more.begin(), more.end());
  };
  add(matrix_.collective_kernels());
  add(block_.kernels());
  add(vector_.kernels());
  if (!problem.has_stencil()) return;
  grid_ = std::make_unique<GridKernels>(job, problem, second_level_bytes(job));
  add(grid_->collective_kernels());
  multigrid_ = std::make_unique<MultigridKernels>(job, problem);
  add(multigrid_->kernels());
}

}  // namespace weft::library
