#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/precondition/overlapping_pieces.h"
#include "solver/sweepers/vector_sweeper.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Restricted additive Schwarz as an iteration, for any symmetric positive definite sparse matrix,
/// synchronous or asynchronous, on OverlappingPieces:
///
///     new x = x + Σ R̃_iᵀ·Ã_i⁻¹·R_i·(b − A·x)
///
/// A rank has its pieces' rows of A and b with the overlap, whoever owns them in the operator. So a
/// sweep needs x only, one layer further than the overlap, and neither residuals nor results
/// travel; a rank's rows are the cores of its pieces.
///
/// Values have the same bits for any ranks and threads where pieces are consecutive rows, and so
/// have residuals: squares are summed core by core.
///
/// Bytes a sweep: 12 for each nonzero of the rows with the overlap, 24 for each of the factors.
/// `restricted` converges for M-matrices, in any order of updates.
/// Source: Frommer and Szyld 2001, "An algebraic convergence theory for restricted additive Schwarz
/// methods using weighted max norms".
class PieceSweeper final : public VectorSweeper {
 public:
  /// `kind`: not symmetric. A `piece_count` of 0 is one for about `automatic_rows` rows, and at
  /// least one for each rank.
  using Options = SchwarzOptions;
  using Kind = SchwarzOptions::Kind;
  using Partition = SchwarzOptions::Partition;

  /// Starts from x = 0. Imports rows and factors; `op` is not needed later but for its team, which
  /// outlives it. Shape: b: the operator's [row_count]. Collective. Thread: the main thread,
  /// outside the team. Throws comm_thread::InputError as OverlappingPieces.
  /// `weights`: by which each row of a residual is multiplied where it is judged, in the shape of
  /// b; empty on all ranks: by 1.
  PieceSweeper(const spmv::SparseOperator& op, std::span<const double> b, const Options& options,
               std::span<const double> weights = {});

  /// Of all ranks.
  std::int64_t piece_count() const { return pieces_->count(); }
  /// Rows of the largest piece of any rank, with the overlap.
  std::int64_t largest_piece() const { return pieces_->largest(); }
  /// The number, from 0, of the first row of `solution`, which need not be the operator's.
  spmv::GlobalIndex first_row() const { return pieces_->first_row(); }

  void sweep(const comm_thread::TeamThread& thread, SweepPart part,
             comm_thread::ExactAccumulator* residual_square) override;
  void add_residual(const comm_thread::TeamThread& thread, SweepState state,
                    comm_thread::ExactAccumulator& residual_square) override;

 private:
  using Piece = OverlappingPieces::Piece;

  PieceSweeper(std::unique_ptr<OverlappingPieces> pieces, const spmv::SparseOperator& op,
               std::span<const double> b, std::span<const double> weights);
  std::vector<double> collective_fetch(const spmv::DistributedMatrix& matrix,
                                       std::span<const double> of_rows) const;
  double residual_of_row(const Piece& piece, std::size_t row, const double* x) const;
  double weighted(const Piece& piece, std::size_t row, double residual) const {
    return weights_.empty() ? residual : weights_[piece.begin + row] * residual;
  }

  std::unique_ptr<OverlappingPieces> pieces_;
  std::vector<double> source_;  // b of the rows of the pieces
  std::vector<double> weights_;  // of the same rows; empty: all are 1
};

}  // namespace weft::solver
