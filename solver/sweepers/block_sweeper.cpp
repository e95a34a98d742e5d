#include "solver/sweepers/block_sweeper.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"
#include "solver/sweepers/residual.h"

namespace weft::solver {
namespace {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;

/// Norm of residuals that a block need not solve: their squares may leave the range of double.
constexpr double negligible = 1e-145;

ConjugateGradient::Options inner_options(const BlockSweeper::Options& options) {
  ConjugateGradient::Options inner;
  inner.mode = spmv::Mode::vector;  // there is nobody to communicate with
  inner.stop = {.tolerance = options.inner_tolerance,
                .max_iterations = options.inner_max_iterations,
                .absolute_tolerance = negligible};
  return inner;
}

void collective_check_diagonal(const spmv::SparseOperator& op) {
  const std::vector<double> diagonal = op.matrix().diagonal();
  comm_thread::collective_attempt(op.communicator(), [&] {
    const auto wrong = std::ranges::find_if_not(diagonal, [](double value) { return value > 0; });
    if (wrong == diagonal.end()) return;
    throw comm_thread::InputError(
        fmt::format("row {} has {} on the diagonal; expected a positive number, because blocks are "
                    "solved by conjugate gradients",
                    op.matrix().matrix().first_row() + (wrong - diagonal.begin()) + 1, *wrong));
  });
}

}  // namespace

BlockSweeper::BlockSweeper(spmv::SparseOperator& op, std::span<const double> b, Options options)
    : VectorSweeper(op.team(), {op.matrix().matrix().first_row(), op.global_row_count()},
                    op.halo_plan(), op.matrix().thread_rows(), 2),
      op_(op),
      b_(b),
      weights_(options.weights),
      alone_(comm_thread::Communicator::self()),
      block_(op.diagonal_block(alone_)),
      inner_(block_, inner_options(options)) {
  collective_check_diagonal(op);
}

void BlockSweeper::count(const SolveReport& report) {
  ++inner_solves_.solves;
  inner_solves_.iterations += report.iterations;
  if (report.status != SolveStatus::breakdown) return;
  if (inner_solves_.breakdowns++ == 0) inner_solves_.first_breakdown = report.explanation;
}

/// Residual, inner solution and new values of a row all belong to the same thread: the block has
/// the rows of the matrix, and so its division among threads.
void BlockSweeper::sweep(const TeamThread& thread, SweepPart part,
                         ExactAccumulator* residual_square) {
  form_residual(op_, b_, current(), next(), thread, part, residual_square, weights_);
  if (part == SweepPart::interior) return;
  const SolveReport report = inner_.solve_in_team(thread, {next(), row_count()});
  if (thread.is_primary()) count(report);

  const auto cuts = op_.matrix().thread_rows().subspan(static_cast<std::size_t>(thread.index), 2);
  const double* const x = current();
  const double* const d = inner_.solution().data();
  double* const y = next();
  for (spmv::LocalIndex row = cuts[0]; row < cuts[1]; ++row) y[row] = x[row] + d[row];
}

void BlockSweeper::add_residual(const TeamThread& thread, SweepState state,
                                ExactAccumulator& residual_square) {
  form_residual(op_, b_, values(state), next(), thread, SweepPart::all, &residual_square, weights_);
}

}  // namespace weft::solver
