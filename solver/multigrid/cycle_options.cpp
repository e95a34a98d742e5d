#include "solver/multigrid/cycle_options.h"

#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/level_plan.h"

namespace weft::solver {

CycleOptions collective_with_gathering(const comm_thread::Communicator& communicator,
                                       comm_thread::CommThread& comm_thread,
                                       const comm_thread::ComputeTeam& team,
                                       const spmv::GridStencil& stencil,
                                       const spmv::GridPartition& partition, CycleOptions options) {
  options.gathering.least_points = options.least_points;
  if (options.least_points > 0) return options;
  options.gathering = choose_gathering(
      grid_levels(stencil, coarsest_points), partition,
      collective_measure_exchanges(communicator, comm_thread, partition), options.steps,
      team.thread_count(), options.is_double ? sizeof(double) : sizeof(float));
  options.least_points = options.gathering.least_points;
  return options;
}

}  // namespace weft::solver
