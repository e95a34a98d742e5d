#pragma once

#include <memory>

#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle_preconditioner.h"
#include "solver/multigrid/level_plan.h"
#include "spmv/grid/diffusion_operator.h"
#include "spmv/grid/stencil_operator.h"

namespace weft::solver {

/// One cycle on the grids of an operator without a matrix.
/// Lifetime: `op` outlives it.
class MultigridPreconditioner final : public CyclePreconditioner {
 public:
  /// Collective. Thread: the main thread, outside the team.
  MultigridPreconditioner(const spmv::StencilOperator& op, const Cycle::Options& options);
  /// Of couplings that vary. `options.steps`: 0 for as many as they need. Collective. Thread: as
  /// above.
  MultigridPreconditioner(const spmv::DiffusionOperator& op, const Cycle::Options& options);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  Cycle& cycle() override { return *cycle_; }
  bool has_known_bounds() const override { return has_known_bounds_; }

  /// Time that the primary thread has spent in `apply` so far.
  double seconds() const { return seconds_; }

 private:
  template <class Value>
  void collective_make(GridPlan<Value> plan, const Cycle::Options& options);

  const spmv::GridOperator& op_;
  perfmodel::PhaseTimer timer_;
  double norm_ = 1;
  bool has_known_bounds_;
  std::unique_ptr<Cycle> cycle_;
  double seconds_ = 0;  // the primary thread's
};

}  // namespace weft::solver
