#include "solver/sweepers/residual.h"

#include <cstddef>

#include "spmv/sums/block_dot.h"

namespace weft::solver {

spmv::RowSet rows_of(SweepPart part) {
  return part == SweepPart::all        ? spmv::RowSet::all
         : part == SweepPart::interior ? spmv::RowSet::interior
                                       : spmv::RowSet::boundary;
}

void form_residual(const spmv::SparseOperator& op, std::span<const double> b, const double* x,
                   double* r, const comm_thread::TeamThread& thread, SweepPart part,
                   comm_thread::ExactAccumulator* residual_square,
                   std::span<const double> weights) {
  const auto weighted_square = [&](spmv::LocalIndex row, spmv::LocalIndex count) {
    double square = 0;
    for (spmv::LocalIndex i = row; i < row + count; ++i) {
      const double value = weights[static_cast<std::size_t>(i)] * r[i];
      square += value * value;
    }
    return square;
  };
  op.matrix().multiply_blocks(
      rows_of(part), thread.index, x, r, [&](spmv::LocalIndex row, spmv::LocalIndex count) {
        for (spmv::LocalIndex i = row; i < row + count; ++i)
          r[i] = b[static_cast<std::size_t>(i)] - r[i];
        if (residual_square)
          residual_square->add(weights.empty() ? spmv::block_dot(r + row, r + row, count)
                                               : weighted_square(row, count));
      });
}

}  // namespace weft::solver
