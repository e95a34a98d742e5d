#pragma once

#include <functional>

#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/passes/finest_residual.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/shares.h"
#include "spmv/modes/work.h"
#include "spmv/sums/binned_sum.h"

namespace weft::solver {

/// Adds the squares of the residual in a pass of its own, after the halo has arrived.
/// Lifetime: all that is given outlives it. `square`: of the calling thread.
class SquareWork final : public spmv::Work {
 public:
  SquareWork(const FinestResidual& residual, const spmv::GridBox& own, spmv::CloseSum& square)
      : residual_(residual), own_(own), square_(square) {}

  void run(spmv::RowSet part, const comm_thread::TeamThread& thread,
           const std::function<void()>& /*pause*/) const override {
    if (part == spmv::RowSet::interior) return;
    for (const spmv::GridBox& box : spmv::share_of_rows(own_, thread.index, thread.count))
      residual_.add_square(box, square_);
  }

 private:
  const FinestResidual& residual_;
  const spmv::GridBox& own_;
  spmv::CloseSum& square_;
};

}  // namespace weft::solver
