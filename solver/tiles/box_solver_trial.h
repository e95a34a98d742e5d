#pragma once

#include "comm_thread/mpi/communicator.h"
#include "solver/tiles/box_solver_kind.h"
#include "solver/tiles/robin_box.h"

namespace weft::solver {

/// Time of one solve with each kind of solver: the best of some, mean of the ranks.
struct BoxSolverTrial {
  double cholmod_seconds = 0;
  double tensor_seconds = 0;

  BoxSolverKind quickest() const {
    return tensor_seconds < cholmod_seconds ? BoxSolverKind::tensor : BoxSolverKind::cholmod;
  }
};

/// Solves with the matrix of `box`, which is the same on all ranks, some times each way, for what
/// is 0 outside of `given` and wanted on `wanted`.
/// Collective; the same on every rank. Throws comm_thread::InputError as `make_box_solver` does.
BoxSolverTrial collective_try_box_solvers(const comm_thread::Communicator& communicator,
                                          const RobinBox& box, const BoxFrame& given,
                                          const BoxFrame& wanted);

}  // namespace weft::solver
