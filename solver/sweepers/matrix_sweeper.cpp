#include "solver/sweepers/matrix_sweeper.h"

#include "solver/krylov/inverse_diagonal.h"
#include "solver/sweepers/jacobi_step.h"

namespace weft::solver {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;

MatrixSweeper::MatrixSweeper(spmv::SparseOperator& op, std::span<const double> b, Options options)
    : options_(options),
      values_(op, b, options.momentum == 0 ? 2 : 3),
      scale_(collective_invert_diagonal(op, options.weight, "Jacobi")) {}

void MatrixSweeper::sweep(const TeamThread& thread, SweepPart part,
                          ExactAccumulator* residual_square) {
  const double* const x = values_.current();
  const double* const previous = options_.momentum == 0 ? nullptr : values_.previous();
  double* const next = values_.next().data();
  values_.op().matrix().multiply_blocks(
      rows_of(part), thread.index, x, next, [&](spmv::LocalIndex row, spmv::LocalIndex count) {
        const double square =
            jacobi_step(values_.b().data() + row, scale_.data() + row, x + row,
                        previous ? previous + row : nullptr, options_.momentum, next + row, count);
        if (residual_square) residual_square->add(square);
      });
}

void MatrixSweeper::advance(const TeamThread& thread, int count) {
  for (int i = 0; i < count; ++i) {
    sweep(thread, SweepPart::all, nullptr);
    thread.barrier();
    if (thread.is_primary()) finish_sweep();
    thread.barrier();
  }
}

}  // namespace weft::solver
