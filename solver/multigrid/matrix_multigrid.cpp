#include "solver/multigrid/matrix_multigrid.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/multigrid/couplings/matrix_couplings.h"
#include "solver/multigrid/couplings/row_box_exchange.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/varying_plan.h"
#include "solver/precondition/solve_unit.h"

namespace weft::solver {
namespace {

void check_size(const spmv::SparseOperator& op, const spmv::GridSize& grid) {
  if (const spmv::GlobalIndex points = grid.x * grid.y * grid.z; points != op.global_row_count())
    throw comm_thread::InputError(
        "multigrid: found a matrix of " + std::to_string(op.global_row_count()) +
        " rows; expected " + std::to_string(points) + " for the grid " + std::to_string(grid.x) +
        "x" + std::to_string(grid.y) + "x" + std::to_string(grid.z));
}

spmv::GridPartition partition_of(const spmv::SparseOperator& op, const spmv::GridSize& grid) {
  check_size(op, grid);
  return {grid, op.communicator().size()};
}

/// `options` with the grids gathered where the model says so. Collective.
Cycle::Options collective_options(const spmv::SparseOperator& op, const spmv::GridStencil& stencil,
                                  const Cycle::Options& options) {
  return collective_with_gathering(op.communicator(), op.comm_thread(), op.team(), stencil,
                                   partition_of(op, stencil.grid), options);
}

}  // namespace

/// A cycle whose right-hand side and result are rows of the matrix.
class MatrixMultigrid::CycleOnBoxes {
 public:
  virtual ~CycleOnBoxes() = default;
  virtual Cycle& cycle() = 0;
  virtual void begin_solve() = 0;
  /// As Preconditioner::apply_to.
  virtual void collective_apply(const comm_thread::TeamThread& thread, int vector, const double* r,
                                double* z) = 0;
};

template <class Value>
class MatrixMultigrid::CycleOnBoxesOf final : public CycleOnBoxes {
 public:
  CycleOnBoxesOf(const spmv::SparseOperator& op, const spmv::GridPartition& partition,
                 std::vector<LevelPlan<Value>> plan, const Cycle::Options& options,
                 perfmodel::PhaseTimer& timer)
      : cycle_(op.communicator(), op.comm_thread(), op.team(), std::move(plan), options, timer),
        exchange_(rows_to_boxes<Value>(op.crew(), op.matrix().matrix().partition, partition,
                                       cycle_.right_hand_side().layout())),
        z_(cycle_.right_hand_side().layout()),
        row_count_(op.matrix().matrix().rows.row_count),
        unit_(op.communicator(), op.team().thread_count()) {
    op.communicator().barrier();  // both ends of every pair exist
  }

  Cycle& cycle() override { return cycle_; }
  void begin_solve() override { unit_.begin_solve(); }
  void collective_apply(const comm_thread::TeamThread& thread, int vector, const double* r,
                        double* z) override {
    const double scale = cycle_.finest().scale;
    unit_.collective_choose(thread, vector, scale, [&] {
      const auto [begin, end] = comm_thread::share_of(row_count_, thread.index, thread.count);
      double largest = 0;
      for (auto row = begin; row < end; ++row) largest = std::max(largest, std::abs(r[row]));
      return largest;
    });
    GridArray<Value>& f = cycle_.right_hand_side();
    const double unit = unit_.value(vector);
    exchange_.collective_there(thread, r, unit / scale, f.values());
    cycle_.collective_descend(thread, {.array = &f}, &cycle_.right_hand_side_halo());
    cycle_.collective_ascend(thread, {.array = &z_});
    exchange_.collective_back(thread, z_.values(), 1 / unit, z);
  }

 private:
  GridCycle<Value> cycle_;
  spmv::Redistribution<Value> exchange_;
  GridArray<Value> z_;  // of the box, in memory as the right-hand side
  spmv::LocalIndex row_count_;  // of the matrix, here
  SolveUnit unit_;
};

template <class Value>
void MatrixMultigrid::collective_make(const spmv::GridPartition& partition, GridPlan<Value> plan,
                                      const Cycle::Options& options) {
  norm_ = plan.inverse_norm;
  boxes_ = std::make_unique<CycleOnBoxesOf<Value>>(op_, partition, std::move(plan.levels), options,
                                                   timer_);
}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const spmv::GridStencil& stencil,
                                 const Cycle::Options& options)
    : op_(op), has_known_bounds_(true) {
  const Cycle::Options chosen = collective_options(op, stencil, options);
  const spmv::GridPartition partition = partition_of(op, stencil.grid);
  with_precision(chosen.is_double, [&]<class Value>(Value) {
    collective_make(partition, plan_constant<Value>(stencil, partition, chosen.least_points),
                    chosen);
  });
}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const Grid& grid,
                                 const Cycle::Options& options)
    : op_(op), has_known_bounds_(false) {
  const Cycle::Options gathered =
      collective_options(op, {.grid = grid.size}, with_varying_steps(options));
  const spmv::GridPartition partition = partition_of(op, grid.size);
  const GridCouplings couplings = collective_matrix_couplings(
      op.communicator(), op.comm_thread(), op.team(), op.matrix().matrix(), partition);
  const CouplingView view = couplings.view(partition.domain());
  const Cycle::Options chosen =
      collective_with_finest_steps(op.communicator(), op.team(), view, gathered);
  with_precision(chosen.is_double, [&]<class Value>(Value) {
    collective_make(partition,
                    collective_plan_varying<Value>(op.communicator(), op.comm_thread(), op.team(),
                                                   partition, view, grid.has_boundary, chosen),
                    chosen);
  });
}

MatrixMultigrid::~MatrixMultigrid() = default;

Cycle& MatrixMultigrid::cycle() { return boxes_->cycle(); }

void MatrixMultigrid::begin_solve() { boxes_->begin_solve(); }

void MatrixMultigrid::apply_to(const comm_thread::TeamThread& thread, int vector, const double* r,
                               double* z) {
  const double begin = thread.is_primary() ? perfmodel::seconds_now() : 0;
  boxes_->collective_apply(thread, vector, r, z);
  if (thread.is_primary()) seconds_ += perfmodel::seconds_now() - begin;
}

}  // namespace weft::solver
