#pragma once

#include <array>
#include <memory>

#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle_preconditioner.h"
#include "solver/multigrid/level_plan.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"

namespace weft::solver {

/// One cycle on the grid of a matrix. Rows go to the boxes of a GridPartition before the cycle and
/// back after it. Lifetime: `op` outlives it.
class MatrixMultigrid final : public CyclePreconditioner {
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
                  const Cycle::Options& options);
  /// Of a symmetric 7-point matrix, from its entries. `options.steps`: 0 for as many as such
  /// matrices need. Throws comm_thread::InputError, on every rank, where it is none: see
  /// collective_matrix_couplings. Collective. Thread: as above.
  MatrixMultigrid(const spmv::SparseOperator& op, const Grid& grid, const Cycle::Options& options);

  ~MatrixMultigrid() override;

  void begin_solve() override;
  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override {
    apply_to(thread, 0, r, z);
  }
  void apply_to(const comm_thread::TeamThread& thread, int vector, const double* r,
                double* z) override;
  double norm() const override { return norm_; }
  Cycle& cycle() override;
  bool has_known_bounds() const override { return has_known_bounds_; }

  /// Time that the primary thread has spent in `apply` so far.
  double seconds() const { return seconds_; }

 private:
  class CycleOnBoxes;
  template <class Value>
  class CycleOnBoxesOf;

  template <class Value>
  void collective_make(const spmv::GridPartition& partition, GridPlan<Value> plan,
                       const Cycle::Options& options);

  const spmv::SparseOperator& op_;
  perfmodel::PhaseTimer timer_;
  double norm_ = 1;
  bool has_known_bounds_;
  std::unique_ptr<CycleOnBoxes> boxes_;
  double seconds_ = 0;  // the primary thread's
};

}  // namespace weft::solver
