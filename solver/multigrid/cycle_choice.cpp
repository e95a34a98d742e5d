#include "solver/multigrid/cycle_choice.h"

#include <utility>

#include "solver/multigrid/additive_cycle.h"
#include "solver/multigrid/gathering.h"
#include "solver/multigrid/grid_cycle.h"

namespace weft::solver {

Cycle::Options collective_with_gathering(const comm_thread::Communicator& communicator,
                                         comm_thread::CommThread& comm_thread,
                                         const comm_thread::ComputeTeam& team,
                                         const spmv::GridStencil& stencil,
                                         const spmv::GridPartition& partition,
                                         Cycle::Options options) {
  options.gathering.least_points = options.least_points;
  if (options.least_points > 0) return options;
  options.gathering =
      choose_gathering(grid_levels(stencil, coarsest_points), partition,
                       collective_measure_exchanges(communicator, comm_thread, partition),
                       options.steps, team.thread_count());
  options.least_points = options.gathering.least_points;
  return options;
}

std::unique_ptr<Cycle> collective_make_cycle(const comm_thread::Communicator& communicator,
                                             comm_thread::CommThread& comm_thread,
                                             const comm_thread::ComputeTeam& team,
                                             std::vector<LevelPlan> plan,
                                             const Cycle::Options& options,
                                             perfmodel::PhaseTimer& timer) {
  if (options.is_additive)
    return std::make_unique<AdditiveCycle>(communicator, comm_thread, team, std::move(plan),
                                           options, timer);
  return std::make_unique<GridCycle>(communicator, comm_thread, team, std::move(plan), options,
                                     timer);
}

}  // namespace weft::solver
