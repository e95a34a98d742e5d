#include "solver/sweepers/piece_sweeper.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "spmv/rows/ask_owners.h"

namespace weft::solver {
namespace {

using comm_thread::ExactAccumulator;
using comm_thread::TeamThread;
using spmv::GlobalIndex;

/// The rows of each thread, shared evenly.
std::vector<spmv::LocalIndex> thread_rows(std::size_t row_count, int thread_count) {
  std::vector<spmv::LocalIndex> rows{0};
  for (int thread = 0; thread < thread_count; ++thread)
    rows.push_back(static_cast<spmv::LocalIndex>(
        comm_thread::share_of(static_cast<std::int64_t>(row_count), thread, thread_count).end));
  return rows;
}

}  // namespace

PieceSweeper::PieceSweeper(const spmv::SparseOperator& op, std::span<const double> b,
                           const Options& options, std::span<const double> weights)
    : PieceSweeper(std::make_unique<OverlappingPieces>(op, options, OverlappingPieces::Use::sweep),
                   op, b, weights) {}

PieceSweeper::PieceSweeper(std::unique_ptr<OverlappingPieces> pieces,
                           const spmv::SparseOperator& op, std::span<const double> b,
                           std::span<const double> weights)
    : VectorSweeper(op.team(), {pieces->first_row(), op.global_row_count()}, pieces->plan(),
                    thread_rows(pieces->row_count(), op.team().thread_count()), 2),
      pieces_(std::move(pieces)) {
  source_ = collective_fetch(op.matrix().matrix(), b);
  const bool has_weights = op.communicator().max(std::int64_t{!weights.empty()}) > 0;
  if (has_weights) weights_ = collective_fetch(op.matrix().matrix(), weights);
}

/// Numbers of the rows of pieces, from those that own them in the operator.
std::vector<double> PieceSweeper::collective_fetch(const spmv::DistributedMatrix& matrix,
                                                   std::span<const double> of_rows) const {
  struct Entry {
    GlobalIndex row;
    double value;
  };
  std::unordered_map<GlobalIndex, double> fetched;
  std::vector<GlobalIndex> wanted;
  for (const Piece& piece : pieces_->pieces())
    for (const GlobalIndex row : piece.rows)
      if (fetched.try_emplace(row).second) wanted.push_back(row);
  spmv::collective_ask_owners<Entry>(
      pieces_->communicator(), matrix.partition, wanted,
      [&](GlobalIndex row, std::vector<Entry>& entries) {
        entries.push_back({row, of_rows[static_cast<std::size_t>(row - matrix.first_row())]});
      },
      [&](const Entry& entry) { fetched[entry.row] = entry.value; });
  std::vector<double> of_pieces;
  for (const Piece& piece : pieces_->pieces())
    for (const GlobalIndex row : piece.rows) of_pieces.push_back(fetched.at(row));
  return of_pieces;
}

double PieceSweeper::residual_of_row(const Piece& piece, std::size_t row, const double* x) const {
  double product = 0;
  for (std::size_t i = piece.row_begin[row]; i < piece.row_begin[row + 1]; ++i)
    product += piece.values[i] * x[piece.columns[i]];
  return source_[piece.begin + row] - product;
}

void PieceSweeper::sweep(const TeamThread& thread, SweepPart part,
                         ExactAccumulator* residual_square) {
  const double* const x = current();
  double* const y = next();
  pieces_->for_each_of(thread, [&](std::size_t i) {
    Piece& piece = pieces_->pieces()[i];
    if (part != SweepPart::all && piece.needs_halo != (part == SweepPart::boundary)) return;
    std::vector<double>& residual = piece.right_hand_side;
    for (std::size_t row = 0; row < residual.size(); ++row)
      residual[row] = residual_of_row(piece, row, x);
    if (residual_square) {
      double square = 0;
      for (const std::size_t row : piece.core) {
        const double rest = weighted(piece, row, residual[row]);
        square += rest * rest;
      }
      residual_square->add(square);
    }
    const std::span<const double> correction = piece.factor->solve(0, residual);
    for (const std::size_t row : piece.core)
      y[piece.places[row]] = x[piece.places[row]] + correction[row];
  });
}

void PieceSweeper::add_residual(const TeamThread& thread, SweepState state,
                                ExactAccumulator& residual_square) {
  const double* const x = values(state);
  pieces_->for_each_of(thread, [&](std::size_t i) {
    const Piece& piece = pieces_->pieces()[i];
    double square = 0;
    for (const std::size_t row : piece.core) {
      const double residual = weighted(piece, row, residual_of_row(piece, row, x));
      square += residual * residual;
    }
    residual_square.add(square);
  });
}

}  // namespace weft::solver
