#pragma once

#include <memory>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// The operator of a grid problem without a matrix. Collective. Thread: the main thread, outside
/// the team. Throws comm_thread::InputError, on every rank, where the problem has no grid, or one
/// with too few points. Lifetime: all but `problem` outlive it.
std::unique_ptr<spmv::GridOperator> collective_make_grid_operator(
    const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
    const comm_thread::ComputeTeam& team, const spmv::Problem& problem);

}  // namespace weft::library
