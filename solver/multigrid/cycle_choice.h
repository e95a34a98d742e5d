#pragma once

#include <memory>
#include <vector>

#include "solver/multigrid/cycle.h"
#include "spmv/grid/partition.h"
#include "spmv/grid/stencil.h"

namespace weft::solver {

/// A GridCycle, or with `is_additive` an AdditiveCycle. Collective. Thread: the main thread,
/// outside the team.
template <class Value>
std::unique_ptr<CycleOf<Value>> collective_make_cycle(const comm_thread::Communicator& communicator,
                                                      comm_thread::CommThread& comm_thread,
                                                      const comm_thread::ComputeTeam& team,
                                                      std::vector<LevelPlan<Value>> plan,
                                                      const Cycle::Options& options,
                                                      perfmodel::PhaseTimer& timer);

/// `options` with the least points of a rank that a model chooses from a measurement where they are
/// 0. `stencil`: of the operator, or of one with constant couplings on its grid. Collective.
/// Thread: the main thread, outside the team.
Cycle::Options collective_with_gathering(const comm_thread::Communicator& communicator,
                                         comm_thread::CommThread& comm_thread,
                                         const comm_thread::ComputeTeam& team,
                                         const spmv::GridStencil& stencil,
                                         const spmv::GridPartition& partition,
                                         Cycle::Options options);

}  // namespace weft::solver
