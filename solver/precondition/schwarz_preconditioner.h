#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/precondition/overlapping_pieces.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Additive Schwarz for any sparse matrix, on OverlappingPieces:
///
///     M = Σ R_iᵀ·W_i·A_i⁻¹·W_i·R_i,   W_i = 1/√(number of pieces that have the row)
///
///     6×6 tridiagonal, 2 pieces, overlap 1         piece 0: rows 0 1 2 3
///     M is symmetric if A is, so CG may be         piece 1: rows 2 3 4 5
///     preconditioned with it                       W: 1 1 ½√2 ½√2 1 1
///
/// `restricted`: a row takes the result of the piece that has it without the overlap, M = Σ R̃_iᵀ·
/// A_i⁻¹·R_i, which is not symmetric; half the messages.
///
/// `optimized`: the same with Ã_i, whose rows at the edge know that there is something beyond
/// (shift_interface); wants an overlap.
///
/// A piece is solved by one thread, and a row adds the results of its pieces in the order of their
/// numbers. So the bits of z do not depend on ranks and threads, but with a partition by graph.
///
///     r ─► rows that pieces need from others ─► solves ─► results to the owners ─► z
///
/// Bytes an application: 24 for each nonzero of the factors; messages: twice the overlap.
/// Lifetime: `op` outlives it.
/// Source: Cai and Sarkis 1999 (restricted); Efstathiou and Gander 2003; St-Cyr, Gander, Thomas
/// 2007 (optimized).
class SchwarzPreconditioner final : public Preconditioner {
 public:
  using Options = SchwarzOptions;
  using Kind = SchwarzOptions::Kind;
  using Partition = SchwarzOptions::Partition;

  /// Imports rows and factors. Collective. Thread: the main thread, outside the team.
  /// Throws comm_thread::InputError as OverlappingPieces.
  SchwarzPreconditioner(const spmv::SparseOperator& op, const Options& options);

  void apply(const comm_thread::TeamThread& thread, const double* r, double* z) override;
  double norm() const override { return norm_; }
  bool is_symmetric() const override { return has_weights() && pieces_.is_symmetric(); }
  /// Pieces of all ranks that are not known to be positive definite.
  std::int64_t lu_count() const { return pieces_.lu_count(); }

  const Options& options() const { return pieces_.options(); }
  /// Pieces of all ranks, as made.
  std::int64_t piece_count() const { return pieces_.count(); }
  /// Rows of the largest piece of any rank, with the overlap.
  std::int64_t largest_piece() const { return pieces_.largest(); }
  /// Time that the primary thread has spent in `apply` so far.
  double seconds() const { return seconds_; }

 private:
  using Piece = OverlappingPieces::Piece;
  /// A result that a row adds: the row, the piece, and the place in results_.
  using Term = std::tuple<spmv::GlobalIndex, std::int64_t, std::size_t>;

  /// True if a row adds the results of all pieces that have it.
  bool has_weights() const { return options().kind == Kind::symmetric; }
  void collective_plan_results();
  void plan_sums(std::vector<Term> terms);
  void collective_weigh();
  double inverse_norm(const Piece& piece) const;
  void solve(const comm_thread::TeamThread& thread, const double* r, bool with_halo);
  std::size_t row_count() const { return pieces_.row_count(); }

  const spmv::SparseOperator& op_;
  OverlappingPieces pieces_;
  double norm_ = 1;
  double seconds_ = 0;  // the primary thread's

  std::vector<double> halo_;  // of r
  comm_thread::HaloExchange<double> to_pieces_;
  std::optional<comm_thread::Pending> pending_;  // of the primary thread

  std::vector<double> weights_;  // of the rows of own pieces
  /// Results of the rows of own pieces, then those received: for own rows, where other ranks have
  /// the pieces.
  std::vector<double> results_;
  std::vector<std::size_t> sent_;  // places in results_, for the send buffer
  std::optional<comm_thread::HaloExchange<double>> to_owners_;
  std::vector<std::size_t> term_begin_;  // [row_count + 1]
  std::vector<std::size_t> terms_;  // places in results_, by row, then by piece
};

}  // namespace weft::solver
