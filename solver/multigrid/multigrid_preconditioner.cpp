#include "solver/multigrid/multigrid_preconditioner.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "solver/levels/run_cycle.h"
#include "solver/multigrid/couplings/matrix_couplings.h"
#include "solver/multigrid/couplings/operator_couplings.h"
#include "solver/multigrid/couplings/row_box_exchange.h"
#include "solver/multigrid/cycle_of_vectors.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/grid_gathering.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/varying_plan.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;

/// The operator has a matrix: its vectors have one entry for each of its rows.
template <class Value>
class CycleOfRows final : public CycleOnGrids<Value> {
 public:
  CycleOfRows(const spmv::SparseOperator& op, const spmv::GridPartition& partition,
              GridPlan<Value> plan, const CycleOptions& options)
      : CycleOnGrids<Value>(op, std::move(plan), options),
        exchange_(rows_to_boxes<Value>(op.crew(), op.matrix().matrix().partition, partition,
                                       this->cycle().right_hand_side().layout())),
        z_(this->cycle().right_hand_side().layout()),
        row_count_(op.matrix().matrix().rows.row_count) {
    op.communicator().barrier();  // both ends of every pair exist
  }

  double largest(const TeamThread& thread, const double* r) const override {
    const auto [begin, end] = comm_thread::share_of(row_count_, thread.index, thread.count);
    double largest = 0;
    for (auto row = begin; row < end; ++row) largest = std::max(largest, std::abs(r[row]));
    return largest;
  }
  void collective_begin(const TeamThread& thread, const double* r, double unit) override {
    exchange_.collective_there(thread, r, unit / this->scale(),
                               this->cycle().right_hand_side().values());
    this->collective_descend(thread);
  }
  void collective_end(const TeamThread& thread, double* z, double unit) override {
    this->cycle().collective_ascend(thread, {.array = &z_});
    exchange_.collective_back(thread, z_.values(), 1 / unit, z);
  }

 private:
  spmv::Redistribution<Value> exchange_;
  GridArray<Value> z_;  // of the box, in memory as the right-hand side
  spmv::LocalIndex row_count_;  // of the matrix, here
};

spmv::GridPartition partition_of(const spmv::SparseOperator& op, const spmv::GridSize& grid) {
  if (const spmv::GlobalIndex points = grid.x * grid.y * grid.z; points != op.global_row_count())
    throw comm_thread::InputError(
        "multigrid: found a matrix of " + std::to_string(op.global_row_count()) +
        " rows; expected " + std::to_string(points) + " for the grid " + std::to_string(grid.x) +
        "x" + std::to_string(grid.y) + "x" + std::to_string(grid.z));
  return {grid, op.communicator().size()};
}

}  // namespace

/// Makes the cycle of an operator: `CycleOf` is one of the two classes above.
class MultigridPreconditioner::Maker {
 public:
  template <template <class> class CycleOf, class Op>
  static Made collective_make(const Op& op, const spmv::GridPartition& partition,
                              const spmv::GridStencil& stencil, const CycleOptions& options) {
    const CycleOptions chosen = collective_with_gathering(op.crew(), stencil, partition, options);
    return with_precision(chosen.is_double, [&]<class Value>(Value) {
      auto cycle = std::make_unique<CycleOf<Value>>(
          op, partition, plan_constant<Value>(stencil, partition, chosen.least_points), chosen);
      const double least = cycle->least_eigenvalue();
      return Made{std::move(cycle), chosen, partition.grid(), least};
    });
  }

  /// `couplings`: those of this rank's points.
  template <template <class> class CycleOf, class Op>
  static Made collective_make(const Op& op, const spmv::GridPartition& partition,
                              const CouplingView& couplings,
                              const std::array<bool, 3>& has_boundary,
                              const CycleOptions& options) {
    const CycleOptions chosen = collective_with_finest_steps(
        op.crew(), couplings,
        collective_with_gathering(op.crew(), {.grid = partition.grid()}, partition,
                                  with_varying_steps(options)));
    return with_precision(chosen.is_double, [&]<class Value>(Value) {
      return Made{
          std::make_unique<CycleOf<Value>>(
              op, partition,
              collective_plan_varying<Value>(op.crew(), partition, couplings, has_boundary, chosen),
              chosen),
          chosen, partition.grid(), std::nullopt};
    });
  }

  static Made collective_make(const spmv::SparseOperator& op, const Grid& grid,
                              const CycleOptions& options) {
    const spmv::GridPartition partition = partition_of(op, grid.size);
    const GridCouplings couplings =
        collective_matrix_couplings(op.crew(), op.matrix().matrix(), partition);
    return collective_make<CycleOfRows>(op, partition, couplings.view(partition.domain()),
                                        grid.has_boundary, options);
  }
};

MultigridPreconditioner::MultigridPreconditioner(const spmv::LinearOperator& op, Made made)
    : LevelsPreconditioner(op.crew(), std::move(made.cycle)),
      options_(made.options),
      grid_(made.grid),
      least_eigenvalue_(made.least_eigenvalue) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::StencilOperator& op,
                                                 const CycleOptions& options)
    : MultigridPreconditioner(op, Maker::collective_make<CycleOfGridVectors>(
                                      op, op.partition(), op.stencil(), options)) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::DiffusionOperator& op,
                                                 const CycleOptions& options)
    : MultigridPreconditioner(
          op, Maker::collective_make<CycleOfGridVectors>(op, op.partition(), operator_couplings(op),
                                                         {true, true, true}, options)) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::SparseOperator& op,
                                                 const spmv::GridStencil& stencil,
                                                 const CycleOptions& options)
    : MultigridPreconditioner(op, Maker::collective_make<CycleOfRows>(
                                      op, partition_of(op, stencil.grid), stencil, options)) {}

MultigridPreconditioner::MultigridPreconditioner(const spmv::SparseOperator& op, const Grid& grid,
                                                 const CycleOptions& options)
    : MultigridPreconditioner(op, Maker::collective_make(op, grid, options)) {}

}  // namespace weft::solver
