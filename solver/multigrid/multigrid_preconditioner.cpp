#include "solver/multigrid/multigrid_preconditioner.h"

#include <utility>

#include "perfmodel/stopwatch.h"
#include "solver/multigrid/couplings/operator_couplings.h"
#include "solver/multigrid/cycle_choice.h"
#include "solver/multigrid/varying_plan.h"
#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

/// With what a model chooses.
Cycle::Options collective_with_gathering(const spmv::GridOperator& op,
                                         const spmv::GridStencil& stencil,
                                         const Cycle::Options& options) {
  return solver::collective_with_gathering(op.communicator(), op.comm_thread(), op.team(), stencil,
                                           op.partition(), options);
}

GridPlan collective_plan(const spmv::DiffusionOperator& op, const Cycle::Options& options) {
  return collective_plan_varying(op.communicator(), op.comm_thread(), op.team(), op.partition(),
                                 operator_couplings(op), {true, true, true}, options.steps,
                                 options.least_points);
}

}  // namespace

MultigridPreconditioner::MultigridPreconditioner(const spmv::GridOperator& op, GridPlan plan,
                                                 const Cycle::Options& options,
                                                 bool has_known_bounds)
    : op_(op),
      norm_(plan.inverse_norm),
      has_known_bounds_(has_known_bounds),
      cycle_(collective_make_cycle(op.communicator(), op.comm_thread(), op.team(),
                                   std::move(plan.levels), options, timer_)) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::StencilOperator& op,
                                                 const Cycle::Options& options, Chosen /*tag*/)
    : MultigridPreconditioner(op, plan_constant(op.stencil(), op.partition(), options.least_points),
                              options, true) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::DiffusionOperator& op,
                                                 const Cycle::Options& options, Chosen /*tag*/)
    : MultigridPreconditioner(op, collective_plan(op, options), options, false) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::StencilOperator& op,
                                                 const Cycle::Options& options)
    : MultigridPreconditioner(op, collective_with_gathering(op, op.stencil(), options), Chosen{}) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::DiffusionOperator& op,
                                                 const Cycle::Options& options)
    : MultigridPreconditioner(
          op, collective_with_gathering(op, {.grid = op.grid()}, with_varying_steps(options)),
          Chosen{}) {}

void MultigridPreconditioner::apply(const comm_thread::TeamThread& thread, const double* r,
                                    double* z) {
  const double begin = thread.is_primary() ? perfmodel::seconds_now() : 0;
  const spmv::GridLayout& layout = op_.layout();
  GridArray& f = cycle_->right_hand_side();
  const double inverse = 1 / cycle_->finest().scale;
  for (const spmv::GridBox& box : spmv::share_of_rows(layout.own(), thread.index, thread.count))
    for (spmv::GlobalIndex row_z = box.begin[2]; row_z < box.end[2]; ++row_z)
      for (spmv::GlobalIndex row_y = box.begin[1]; row_y < box.end[1]; ++row_y) {
        const double* const from = r + layout.index(box.begin[0], row_y, row_z);
        float* const to = f.row(row_y, row_z) + box.begin[0];
        for (spmv::GlobalIndex i = 0; i < box.size(0); ++i)
          to[i] = static_cast<float>(inverse * from[i]);
      }
  thread.barrier();
  cycle_->collective_descend(thread, {.array = &f}, &cycle_->right_hand_side_halo());
  cycle_->collective_ascend(thread, {.layout = &layout, .values = z});
  if (thread.is_primary()) seconds_ += perfmodel::seconds_now() - begin;
}

}  // namespace weft::solver
