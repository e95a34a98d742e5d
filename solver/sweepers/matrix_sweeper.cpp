#include "solver/sweepers/matrix_sweeper.h"

#include "solver/precondition/inverse_diagonal.h"
#include "solver/sweepers/jacobi_step.h"
#include "solver/sweepers/residual.h"

namespace weft::solver {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;

MatrixSweeper::MatrixSweeper(spmv::SparseOperator& op, std::span<const double> b, Options options)
    : VectorSweeper(op.team(), {op.matrix().matrix().first_row(), op.global_row_count()},
                    op.halo_plan(), op.matrix().thread_rows(), options.momentum == 0 ? 2 : 3),
      options_(options),
      op_(op),
      b_(b),
      scale_(collective_invert_diagonal(op, options.weight, "Jacobi")) {}

void MatrixSweeper::sweep(const TeamThread& thread, SweepPart part,
                          ExactAccumulator* residual_square) {
  const double* const x = current();
  const double* const before = options_.momentum == 0 ? nullptr : previous();
  double* const y = next();
  const auto step = [&](spmv::LocalIndex row, spmv::LocalIndex count) {
    const double square =
        jacobi_step(b_.data() + row, scale_.data() + row, x + row, before ? before + row : nullptr,
                    options_.momentum, y + row, count);
    if (residual_square) residual_square->add(square);
  };
  op_.changeable_matrix().in_due_form(rows_of(part), thread.index, 1, [&] {
    op_.matrix().multiply_blocks(rows_of(part), thread.index, x, y, step);
  });
}

void MatrixSweeper::add_residual(const TeamThread& thread, SweepState state,
                                 ExactAccumulator& residual_square) {
  form_residual(op_, b_, values(state), next(), thread, SweepPart::all, &residual_square);
}

}  // namespace weft::solver
