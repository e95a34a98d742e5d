#pragma once

#include "solver/amg/coarsening/near_null_space.h"
#include "solver/amg/settings.h"
#include "solver/levels/levels_preconditioner.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver::amg {

/// Algebraic multigrid as a preconditioner, for symmetric positive definite matrices of any origin:
/// one cycle of smoothed aggregation. No bit depends on ranks, threads and modes.
///
/// For new values of the matrix, where `keeps_set_up`, it keeps aggregates, prolongators and
/// patterns, and computes everything else anew: the same bits as a set-up that comes to the same
/// prolongators. That throws as the constructor does; of no use after that.
class AmgPreconditioner final : public LevelsPreconditioner {
 public:
  /// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError, on
  /// every rank, where a diagonal entry is not positive or the coarsest matrix is indefinite.
  /// `near_null_space`: of this rank's rows; by default the constant vector. Lifetime: `op`
  /// outlives it.
  AmgPreconditioner(const spmv::SparseOperator& op, const Settings& settings,
                    NearNullSpace near_null_space = {});
};

}  // namespace weft::solver::amg
