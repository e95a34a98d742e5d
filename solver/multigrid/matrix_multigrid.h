#pragma once

#include <array>

#include "perfmodel/phase_times.h"
#include "solver/multigrid/couplings/row_box_exchange.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/level_plan.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/grid/partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"

namespace weft::solver {

/// One V-cycle on the grid of a matrix as a preconditioner, in single precision; symmetric. Rows go
/// to the boxes of a GridPartition before the cycle and back after it.
/// Lifetime: `op` outlives it.
class MatrixMultigrid final : public Preconditioner {
 public:
  /// Which grid a matrix has, x fastest.
  struct Grid {
    spmv::GridSize size;
    /// Directions at whose ends the solution is given; false only where there is one point.
    std::array<bool, 3> has_boundary{true, true, true};
  };

  /// Of a matrix whose couplings are those of `stencil` at all points. Collective. Thread: the main
  /// thread, outside the team.
  MatrixMultigrid(const spmv::SparseOperator& op, const spmv::GridStencil& stencil,
                  const GridCycle::Options& options);
  /// Of a symmetric 7-point matrix, from its entries. `options.steps`: 0 for as many as such
  /// matrices need. Throws comm_thread::InputError, on every rank, where it is none: see
  /// collective_matrix_couplings. Collective. Thread: as above.
  MatrixMultigrid(const spmv::SparseOperator& op, const Grid& grid,
                  const GridCycle::Options& options);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return true; }

  /// Time that the primary thread has spent in `apply` so far.
  double seconds() const { return seconds_; }
  GridCycle& cycle() { return cycle_; }

 private:
  MatrixMultigrid(const spmv::SparseOperator& op, const spmv::GridPartition& partition,
                  GridPlan plan, const GridCycle::Options& options);

  const spmv::SparseOperator& op_;
  perfmodel::PhaseTimer timer_;
  GridCycle cycle_;
  RowBoxExchange<float> exchange_;
  GridArray z_;  // of the box, in memory as the right-hand side
  double norm_;
  double seconds_ = 0;  // the primary thread's
};

}  // namespace weft::solver
