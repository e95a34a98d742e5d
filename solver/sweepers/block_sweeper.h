#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/krylov/conjugate_gradient.h"
#include "solver/sweepers/vector_sweeper.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Multisplitting: every sweep solves this rank's diagonal block with the neighbours' values as
/// they are.
///
///     6×6 tridiagonal, rank 0 of 2       | A₀ ·  |     new x₀ = x₀ + d,
///     solves its 3×3 block A₀            | ·  A₁ |     A₀·d = b₀ − (A·x)₀ up to `tolerance`
///
/// The block is solved by conjugate gradients on the rank's team, which exchange nothing with other
/// ranks; so asynchrony stays between the blocks, and each block is solved by a synchronous method.
/// Sweeps depend on how rows are divided among ranks, but not on threads.
///
/// Bytes per row and sweep besides the matrix: 40 for the residual, 24 for the new values, and
/// those of ConjugateGradient for each inner iteration. The block shares the memory of the matrix.
/// Source: Bethune et al. 2012, section 6.4; O'Leary and White 1985.
class BlockSweeper final : public VectorSweeper {
 public:
  struct Options {
    double inner_tolerance = 1e-2;  // of ‖r‖ within one inner solve
    std::int64_t inner_max_iterations = 1000;
    /// By which each row of a residual is multiplied where it is judged; empty: by 1. Outlives the
    /// sweeper. Shape: [row_count].
    std::span<const double> weights{};
  };

  /// Counts and times of this rank's inner solves.
  struct InnerSolves {
    std::int64_t solves = 0;
    std::int64_t iterations = 0;
    /// Solves that ended because the block is not positive definite, or because rounding left
    /// nothing to iterate on; what had been found till then was used.
    std::int64_t breakdowns = 0;
    std::string first_breakdown;
  };

  /// Starts from x = 0. `op` and `b` outlive it. Shape: b: [row_count]. Collective. Thread: the
  /// main thread, outside the team. Throws comm_thread::InputError, on every rank, where an entry
  /// of the diagonal is not positive: no block with it is positive definite.
  BlockSweeper(spmv::SparseOperator& op, std::span<const double> b, Options options);

  /// Thread: the main thread, outside the team, or the primary one.
  const InnerSolves& inner_solves() const { return inner_solves_; }

  /// The interior part forms residuals only; the boundary part, or `all`, also solves and uses the
  /// team's barrier.
  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  /// Not between a sweep and its finish_sweep: it overwrites the new values.
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;

 private:
  void count(const SolveReport& report);

  spmv::SparseOperator& op_;
  std::span<const double> b_;
  std::span<const double> weights_;
  comm_thread::Communicator alone_;
  spmv::SparseOperator block_;
  ConjugateGradient inner_;
  InnerSolves inner_solves_;
};

}  // namespace weft::solver
