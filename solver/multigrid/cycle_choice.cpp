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
  options.gathering = choose_gathering(
      grid_levels(stencil, coarsest_points), partition,
      collective_measure_exchanges(communicator, comm_thread, partition), options.steps,
      team.thread_count(), options.is_double ? sizeof(double) : sizeof(float));
  options.least_points = options.gathering.least_points;
  return options;
}

template <class Value>
std::unique_ptr<CycleOf<Value>> collective_make_cycle(const comm_thread::Communicator& communicator,
                                                      comm_thread::CommThread& comm_thread,
                                                      const comm_thread::ComputeTeam& team,
                                                      std::vector<LevelPlan<Value>> plan,
                                                      const Cycle::Options& options,
                                                      perfmodel::PhaseTimer& timer) {
  if (options.is_additive)
    return std::make_unique<AdditiveCycle<Value>>(communicator, comm_thread, team, std::move(plan),
                                                  options, timer);
  return std::make_unique<GridCycle<Value>>(communicator, comm_thread, team, std::move(plan),
                                            options, timer);
}

template std::unique_ptr<CycleOf<float>> collective_make_cycle(
    const comm_thread::Communicator&, comm_thread::CommThread&, const comm_thread::ComputeTeam&,
    std::vector<LevelPlan<float>>, const Cycle::Options&, perfmodel::PhaseTimer&);
template std::unique_ptr<CycleOf<double>> collective_make_cycle(
    const comm_thread::Communicator&, comm_thread::CommThread&, const comm_thread::ComputeTeam&,
    std::vector<LevelPlan<double>>, const Cycle::Options&, perfmodel::PhaseTimer&);

}  // namespace weft::solver
