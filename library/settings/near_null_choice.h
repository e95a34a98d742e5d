#pragma once

#include <string>

#include "library/options/solve_settings.h"
#include "solver/amg/coarsening/near_null_space.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// What coarse levels of amg are to represent.
struct NearNullChoice {
  solver::amg::NearNullSpace space{};
  std::string why{};  // where it was found in the matrix, a sentence; else empty
};

/// The near-null space of this rank's rows, for amg: from the files that `settings` name; the modes
/// of a rigid body where `problem` is elasticity3d in its own order; else the constants of a node,
/// whose rows the pattern of the matrix shows where `settings` do not say them.
/// Collective. Thread: the main thread. Throws comm_thread::InputError, on every rank, where a file
/// does not fit the matrix.
NearNullChoice collective_choose_near_null(const spmv::SparseOperator& op,
                                           const SolveSettings& settings,
                                           const spmv::Problem& problem);

}  // namespace weft::library
