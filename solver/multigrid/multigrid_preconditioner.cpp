#include "solver/multigrid/multigrid_preconditioner.h"

#include "perfmodel/stopwatch.h"
#include "solver/multigrid/level_plan.h"
#include "spmv/grid/shares.h"

namespace weft::solver {
MultigridPreconditioner::MultigridPreconditioner(const spmv::StencilOperator& op,
                                                 const GridCycle::Options& options)
    : op_(op),
      cycle_(op.communicator(), op.comm_thread(), op.team(), op.stencil(), op.partition(), options,
             timer_),
      norm_(inverse_norm(op.stencil())) {}

void MultigridPreconditioner::apply(const comm_thread::TeamThread& thread, const double* r,
                                    double* z) {
  const double begin = thread.is_primary() ? perfmodel::seconds_now() : 0;
  const spmv::GridLayout& layout = op_.layout();
  GridArray& f = cycle_.right_hand_side();
  const double inverse = 1 / cycle_.finest().scale;
  for (const spmv::GridBox& box : spmv::share_of_rows(layout.own(), thread.index, thread.count))
    for (spmv::GlobalIndex row_z = box.begin[2]; row_z < box.end[2]; ++row_z)
      for (spmv::GlobalIndex row_y = box.begin[1]; row_y < box.end[1]; ++row_y) {
        const double* const from = r + layout.index(box.begin[0], row_y, row_z);
        float* const to = f.row(row_y, row_z) + box.begin[0];
        for (spmv::GlobalIndex i = 0; i < box.size(0); ++i)
          to[i] = static_cast<float>(inverse * from[i]);
      }
  thread.barrier();
  cycle_.collective_descend(thread, {.array = &f}, &cycle_.right_hand_side_halo());
  cycle_.collective_ascend(thread, {.layout = &layout, .values = z});
  if (thread.is_primary()) seconds_ += perfmodel::seconds_now() - begin;
}

}  // namespace weft::solver
