#pragma once

#include "perfmodel/phase_times.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

/// One V-cycle on the grids of a problem as a preconditioner, in single precision; symmetric.
/// Lifetime: `op` outlives it.
class MultigridPreconditioner final : public Preconditioner {
 public:
  /// Collective. Thread: the main thread, outside the team.
  MultigridPreconditioner(const spmv::StencilOperator& op, const GridCycle::Options& options);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return true; }

  /// Time that the primary thread has spent in `apply` so far.
  double seconds() const { return seconds_; }
  GridCycle& cycle() { return cycle_; }

 private:
  const spmv::StencilOperator& op_;
  perfmodel::PhaseTimer timer_;
  GridCycle cycle_;
  double norm_;
  double seconds_ = 0;  // the primary thread's
};

}  // namespace weft::solver
