#include "solver/multigrid/matrix_multigrid.h"

#include <string>
#include <utility>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/multigrid/couplings/matrix_couplings.h"
#include "solver/multigrid/varying_plan.h"

namespace weft::solver {
namespace {

/// Of the messages between rows and boxes.
constexpr int first_tag = 2980;

/// Smoothing steps where couplings vary. Couplings that jump from point to point, lognormal with
/// sigma 2, take 22, 16 and 12 iterations with 2, 3 and 4 steps.
constexpr int varying_steps = 4;

GridCycle::Options with_steps(GridCycle::Options options) {
  if (options.steps == 0) options.steps = varying_steps;
  return options;
}

void check_size(const spmv::SparseOperator& op, const spmv::GridSize& grid) {
  if (const spmv::GlobalIndex points = grid.x * grid.y * grid.z; points != op.global_row_count())
    throw comm_thread::InputError(
        "multigrid: found a matrix of " + std::to_string(op.global_row_count()) +
        " rows; expected " + std::to_string(points) + " for the grid " + std::to_string(grid.x) +
        "x" + std::to_string(grid.y) + "x" + std::to_string(grid.z));
}

GridPlan collective_plan(const spmv::SparseOperator& op, const MatrixMultigrid::Grid& grid,
                         const spmv::GridPartition& partition, const GridCycle::Options& options) {
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

}  // namespace

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op,
                                 const spmv::GridPartition& partition, GridPlan plan,
                                 const GridCycle::Options& options)
    : op_(op),
      cycle_(op.communicator(), op.comm_thread(), op.team(), std::move(plan.levels), options,
             timer_),
      exchange_(op.communicator(), op.matrix().matrix().partition, partition,
                cycle_.right_hand_side().layout(), first_tag),
      z_(partition.box(op.communicator().rank()), cycle_.depth()),  // as the right-hand side
      norm_(plan.inverse_norm) {
  op.communicator().barrier();  // both ends of every pair exist
}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const spmv::GridStencil& stencil,
                                 const GridCycle::Options& options)
    : MatrixMultigrid(op, partition_of(op, stencil.grid),
                      plan_constant(stencil, partition_of(op, stencil.grid), options.least_points),
                      options) {}

MatrixMultigrid::MatrixMultigrid(const spmv::SparseOperator& op, const Grid& grid,
                                 const GridCycle::Options& options)
    : MatrixMultigrid(op, partition_of(op, grid.size),
                      collective_plan(op, grid, partition_of(op, grid.size), with_steps(options)),
                      with_steps(options)) {}

void MatrixMultigrid::apply(const comm_thread::TeamThread& thread, const double* r, double* z) {
  const double begin = thread.is_primary() ? perfmodel::seconds_now() : 0;
  GridArray& f = cycle_.right_hand_side();
  exchange_.collective_to_boxes(thread, op_.comm_thread(), r, 1 / cycle_.finest().scale,
                                f.values());
  cycle_.collective_descend(thread, {.array = &f}, &cycle_.right_hand_side_halo());
  cycle_.collective_ascend(thread, {.array = &z_});
  exchange_.collective_to_rows(thread, op_.comm_thread(), z_.values(), z);
  if (thread.is_primary()) seconds_ += perfmodel::seconds_now() - begin;
}

}  // namespace weft::solver
