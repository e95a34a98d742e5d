#include "solver/multigrid/multigrid_preconditioner.h"

#include <utility>

#include "perfmodel/stopwatch.h"
#include "solver/multigrid/couplings/operator_couplings.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/varying_plan.h"

namespace weft::solver {
namespace {

/// `options` with the grids gathered where the model says so. Collective.
Cycle::Options collective_options(const spmv::GridOperator& op, const spmv::GridStencil& stencil,
                                  const Cycle::Options& options) {
  return collective_with_gathering(op.communicator(), op.comm_thread(), op.team(), stencil,
                                   op.partition(), options);
}

}  // namespace

template <class Value>
void MultigridPreconditioner::collective_make(GridPlan<Value> plan, const Cycle::Options& options) {
  norm_ = plan.inverse_norm;
  cycle_ = std::make_unique<GridCycle<Value>>(op_.communicator(), op_.comm_thread(), op_.team(),
                                              std::move(plan.levels), options, timer_);
}

MultigridPreconditioner::MultigridPreconditioner(const spmv::StencilOperator& op,
                                                 const Cycle::Options& options)
    : op_(op), has_known_bounds_(true) {
  const Cycle::Options chosen = collective_options(op, op.stencil(), options);
  with_precision(chosen.is_double, [&]<class Value>(Value) {
    collective_make(plan_constant<Value>(op.stencil(), op.partition(), chosen.least_points),
                    chosen);
  });
}

MultigridPreconditioner::MultigridPreconditioner(const spmv::DiffusionOperator& op,
                                                 const Cycle::Options& options)
    : op_(op), has_known_bounds_(false) {
  const Cycle::Options gathered =
      collective_options(op, {.grid = op.grid()}, with_varying_steps(options));
  const CouplingView couplings = operator_couplings(op);
  const Cycle::Options chosen =
      collective_with_finest_steps(op.communicator(), op.team(), couplings, gathered);
  with_precision(chosen.is_double, [&]<class Value>(Value) {
    collective_make(
        collective_plan_varying<Value>(op.communicator(), op.comm_thread(), op.team(),
                                       op.partition(), couplings, {true, true, true}, chosen),
        chosen);
  });
}

void MultigridPreconditioner::apply(const comm_thread::TeamThread& thread, const double* r,
                                    double* z) {
  const double begin = thread.is_primary() ? perfmodel::seconds_now() : 0;
  cycle_->collective_apply(thread, op_.layout(), r, z);
  if (thread.is_primary()) seconds_ += perfmodel::seconds_now() - begin;
}

}  // namespace weft::solver
