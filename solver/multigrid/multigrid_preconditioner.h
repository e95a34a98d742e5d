#pragma once

#include <array>
#include <memory>
#include <optional>

#include "solver/levels/levels_preconditioner.h"
#include "solver/multigrid/cycle_options.h"
#include "spmv/grid/diffusion_operator.h"
#include "spmv/grid/stencil.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/problems/problem.h"

namespace weft::solver {

/// One cycle on the grid of an operator without a matrix, or of a matrix, whose rows go to the
/// boxes of a GridPartition before the cycle and back after it. Lifetime: `op` outlives it.
class MultigridPreconditioner final : public LevelsPreconditioner {
 public:
  /// Which grid a matrix has, x fastest.
  struct Grid {
    spmv::GridSize size;
    /// Directions at whose ends the solution is given; false only where there is one point.
    std::array<bool, 3> has_boundary{true, true, true};
  };

  /// Collective. Thread: the main thread, outside the team.
  MultigridPreconditioner(const spmv::StencilOperator& op, const CycleOptions& options);
  /// Couplings that vary. `options.steps`: 0 for as many as they need. Collective. Thread: as
  /// above.
  MultigridPreconditioner(const spmv::DiffusionOperator& op, const CycleOptions& options);
  /// A matrix whose couplings are those of `stencil` at all points. Collective. Thread: as above.
  MultigridPreconditioner(const spmv::SparseOperator& op, const spmv::GridStencil& stencil,
                          const CycleOptions& options);
  /// A symmetric 7-point matrix, from its entries. `options.steps`: as above. Throws
  /// comm_thread::InputError, on every rank, where it is none: see collective_matrix_couplings.
  /// Collective. Thread: as above.
  MultigridPreconditioner(const spmv::SparseOperator& op, const Grid& grid,
                          const CycleOptions& options);

  const CycleOptions& options() const { return options_; }
  const spmv::GridSize& grid() const { return grid_; }
  /// Nearly a lower bound of the eigenvalues of the cycle times A, of which none is above 1, where
  /// couplings are the same at all points; else nothing.
  std::optional<double> least_eigenvalue() const { return least_eigenvalue_; }

 private:
  /// What constructors make.
  struct Made {
    std::unique_ptr<LevelCycle> cycle;
    CycleOptions options;
    spmv::GridSize grid;
    std::optional<double> least_eigenvalue;
  };
  class Maker;

  MultigridPreconditioner(const spmv::LinearOperator& op, Made made);

  CycleOptions options_;
  spmv::GridSize grid_;
  std::optional<double> least_eigenvalue_;
};

}  // namespace weft::solver
