#pragma once

#include <span>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/sweepers/vector_sweeper.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Weighted Jacobi, with or without momentum, on the rows of a sparse matrix:
///
///     new x = x + ω D⁻¹ (b − A·x) + β (x − previous x)
///
/// β = 0: (weighted) Jacobi. β ≠ 0: the second-order Richardson iteration, see
/// `richardson_parameters`. Values and residuals are the same, to the last bit, for any number of
/// ranks and threads, as long as the halos are.
///
/// One pass a sweep; bytes per row besides the matrix: read b, ω D⁻¹ and x, write new x (16 with
/// write-allocate), 40 in all; with momentum the previous x too, 48. The product is written to the
/// place of the new x and read back from cache, block by block; where a block has boundary rows and
/// a sweep comes in parts, from memory, after the boundary part.
/// Source: Bethune et al. 2012, section 2, equation 1.
class MatrixSweeper final : public VectorSweeper {
 public:
  struct Options {
    double weight = 1;  // ω
    double momentum = 0;  // β
  };

  /// Starts from x = 0. `op` and `b` outlive it. Shape: b: [row_count]. Collective. Thread: the
  /// main thread, outside the team. Throws comm_thread::InputError, on every rank, where the
  /// diagonal has a zero.
  MatrixSweeper(spmv::SparseOperator& op, std::span<const double> b, Options options);

  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  /// Not between a sweep and its finish_sweep: it overwrites the new values.
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;

 private:
  Options options_;
  spmv::SparseOperator& op_;
  std::span<const double> b_;
  perfmodel::HugePageBuffer<double> scale_;  // ω / a_ii
};

}  // namespace weft::solver
