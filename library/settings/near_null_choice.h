#pragma once

#include "library/options/solve_settings.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// The near-null space of this rank's rows, for amg: from the files that `settings` name; the modes
/// of a rigid body where `problem` is elasticity3d in its own order; else the constants of a node.
/// Collective. Thread: the main thread. Throws comm_thread::InputError, on every rank, where a file
/// does not fit the matrix.
solver::amg::NearNullSpace collective_choose_near_null(const spmv::SparseOperator& op,
                                                       const SolveSettings& settings,
                                                       const spmv::Problem& problem);

}  // namespace weft::library
