#include "solver/multigrid/matrix_multigrid.h"

#include <string>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/multigrid/couplings/matrix_couplings.h"
#include "solver/multigrid/cycle_choice.h"
#include "solver/multigrid/varying_plan.h"

namespace weft::solver {
namespace {

/// Of the messages between rows and boxes.
constexpr int first_rows_tag = 2980;

void check_size(const spmv::SparseOperator& op, const spmv::GridSize& grid) {
  if (const spmv::GlobalIndex points = grid.x * grid.y * grid.z; points != op.global_row_count())
    throw comm_thread::InputError(
        "multigrid: found a matrix of " + std::to_string(op.global_row_count()) +
        " rows; expected " + std::to_string(points) + " for the grid " + std::to_string(grid.x) +
        "x" + std::to_string(grid.y) + "x" + std::to_string(grid.z));
}

GridPlan collective_plan(const spmv::SparseOperator& op, const MatrixMultigrid::Grid& grid,
                         const spmv::GridPartition& partition, const Cycle::Options& options) {
  return collective_plan_varying(
      op.communicator(), op.comm_thread(), op.team(), partition,
      collective_matrix_couplings(op.communicator(), op.comm_thread(), op.team(),
                                  op.matrix().matrix(), partition),
      grid.has_boundary, options.steps, options.least_points);
}

spmv::GridPartition partition_of(const spmv::SparseOperator& op, const spmv::GridSize& grid) {
  check_size(op, grid);
  return {grid, op.communicator().size()};
}

/// With what a model chooses.
Cycle::Options collective_with_gathering(const spmv::SparseOperator& op,
                                         const spmv::GridStencil& stencil,
                                         const Cycle::Options& options) {
  return solver::collective_with_gathering(op.communicator(), op.comm_thread(), op.team(), stencil,
                                           partition_of(op, stencil.grid), options);
}

}  // namespace

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op,
                                 const spmv::GridPartition& partition, GridPlan plan,
                                 const Cycle::Options& options, bool has_known_bounds)
    : op_(op),
      norm_(plan.inverse_norm),
      has_known_bounds_(has_known_bounds),
      cycle_(collective_make_cycle(op.communicator(), op.comm_thread(), op.team(),
                                   std::move(plan.levels), options, timer_)),
      exchange_(op.communicator(), op.matrix().matrix().partition, partition,
                cycle_->right_hand_side().layout(), first_rows_tag),
      z_(cycle_->right_hand_side().layout()) {
  op.communicator().barrier();  // both ends of every pair exist
}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const spmv::GridStencil& stencil,
                                 const Cycle::Options& options, Chosen /*tag*/)
    : MatrixMultigrid(op, partition_of(op, stencil.grid),
                      plan_constant(stencil, partition_of(op, stencil.grid), options.least_points),
                      options, true) {}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const Grid& grid,
                                 const Cycle::Options& options, Chosen /*tag*/)
    : MatrixMultigrid(op, partition_of(op, grid.size),
                      collective_plan(op, grid, partition_of(op, grid.size), options), options,
                      false) {}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const spmv::GridStencil& stencil,
                                 const Cycle::Options& options)
    : MatrixMultigrid(op, stencil, collective_with_gathering(op, stencil, options), Chosen{}) {}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const Grid& grid,
                                 const Cycle::Options& options)
    : MatrixMultigrid(
          op, grid, collective_with_gathering(op, {.grid = grid.size}, with_varying_steps(options)),
          Chosen{}) {}

void MatrixMultigrid::apply(const comm_thread::TeamThread& thread, const double* r, double* z) {
  const double begin = thread.is_primary() ? perfmodel::seconds_now() : 0;
  GridArray& f = cycle_->right_hand_side();
  exchange_.collective_to_boxes(thread, op_.comm_thread(), r, 1 / cycle_->finest().scale,
                                f.values());
  cycle_->collective_descend(thread, {.array = &f}, &cycle_->right_hand_side_halo());
  cycle_->collective_ascend(thread, {.array = &z_});
  exchange_.collective_to_rows(thread, op_.comm_thread(), z_.values(), z);
  if (thread.is_primary()) seconds_ += perfmodel::seconds_now() - begin;
}

}  // namespace weft::solver
