#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/direct/factor.h"
#include "solver/direct/local_matrix.h"
#include "solver/precondition/imported_rows.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/partition.h"

namespace weft::solver {

/// Additive Schwarz on any sparse matrix: how its rows are cut into pieces, and which method it is.
struct SchwarzOptions {
  /// See SchwarzPreconditioner.
  enum class Kind { symmetric, restricted, optimized };
  /// `rows`: consecutive ones. `graph`: METIS cuts the graph of each rank's own rows, each rank's
  /// share of the pieces, at least one; results then depend on the ranks.
  enum class Partition { rows, graph };
  /// How a piece is solved. `automatic`: by CHOLMOD where its matrix is symmetric positive
  /// definite, by LU otherwise. `cholesky`: by CHOLMOD. `lu`: by KLU. `incomplete`: by ILU(0).
  enum class Solver { automatic, cholesky, lu, incomplete };
  static constexpr std::int64_t automatic_rows = 4096;
  /// Of `incomplete`, whose work grows with the rows alone: larger pieces lose less at their edges.
  static constexpr std::int64_t automatic_rows_of_incomplete = 8192;

  static constexpr int most_overlap = 64;

  Kind kind = Kind::symmetric;
  std::int64_t piece_count = 0;  // of all ranks; 0: one for about `automatic_rows` rows
  Partition partition = Partition::rows;
  int overlap = 1;  // layers of the matrix's graph, up to `most_overlap`
  /// Of `optimized`, above 0 to 1, see shift_interface. The best is 0.02 to 0.2 for matrices of
  /// two dimensions, 0.1 to 0.3 for three, and flat: 0.1 took at most a third more iterations.
  double shift = 0.1;
  Solver solver = Solver::automatic;
  /// True if M has to be symmetric positive definite; else a piece that makes it another is
  /// refused.
  bool must_be_definite = false;
  /// Called by every rank when the pieces are cut and before they are factored, with the memory
  /// that this rank's factors will take; may throw comm_thread::InputError on all ranks.
  std::function<void(double factor_bytes)> on_forecast{};
};

/// As on the command line: `symmetric`, `restricted`, `optimized`.
const char* name(SchwarzOptions::Kind kind);

/// This rank's pieces of a sparse matrix: consecutive rows, or parts of its graph (the core), that
/// grow by an algebraic overlap, each factored; and the halo of the vectors that they read.
///
///     6×6 tridiagonal, 2 ranks and pieces, overlap 1      `inverse`        `sweep`
///     rank 0:   core 0 1 2   overlap 3                    halo 3           halo 3 4
///     rank 1:   core 3 4 5   overlap 2                    halo 2           halo 1 2
///
/// Piece i of S has the rows from i·N/S to (i+1)·N/S, whatever the ranks, and is on the rank that
/// owns the middle one.
class OverlappingPieces {
 public:
  /// `inverse`: vectors are the operator's, and pieces read their own rows of them. `sweep`: rank r
  /// of P has the cores of pieces r·S/P to (r+1)·S/P in its vectors, or with a partition by graph
  /// the operator's rows; pieces read all columns of their rows, and keep these rows of A.
  enum class Use { inverse, sweep };

  struct Piece {
    int number = 0;  // of those of all ranks
    std::size_t begin = 0;  // of its rows among those of all pieces of this rank
    std::vector<spmv::GlobalIndex> rows;  // ascending, with the overlap
    std::vector<std::int32_t> places;  // of its rows in a vector: own rows, then the halo
    std::vector<std::size_t> core;  // which of its rows are not overlap
    bool needs_halo = false;
    std::unique_ptr<Factor> factor;
    std::vector<double> right_hand_side;  // [rows], room for the thread that solves
    // The rows of A with all columns; of a sweep.
    std::vector<std::size_t> row_begin;  // [rows + 1]
    std::vector<std::int32_t> columns;  // by their places
    std::vector<double> values;
  };

  /// Imports rows and factors. Collective. Thread: the main thread, outside the team, which
  /// outlives it. Throws comm_thread::InputError on every rank where options are out of range, and
  /// where a piece cannot be factored.
  OverlappingPieces(const spmv::SparseOperator& op, const SchwarzOptions& options, Use use);

  const SchwarzOptions& options() const { return options_; }
  const comm_thread::Communicator& communicator() const { return communicator_; }
  const comm_thread::ComputeTeam& team() const { return team_; }
  /// Pieces of all ranks, as made.
  std::int64_t count() const { return count_; }
  /// Rows of the largest piece of any rank, with the overlap.
  std::int64_t largest() const { return largest_; }
  /// True if all pieces of all ranks are symmetric.
  bool is_symmetric() const { return is_symmetric_; }
  /// Pieces of all ranks that are solved by LU instead of CHOLMOD.
  std::int64_t lu_count() const { return lu_count_; }
  /// This rank's rows of vectors.
  spmv::GlobalIndex first_row() const { return partition_.begin(communicator_.rank()); }
  std::size_t row_count() const {
    return static_cast<std::size_t>(partition_.size(communicator_.rank()));
  }
  const spmv::RowPartition& partition() const { return partition_; }
  /// Origin of the entries of vectors.
  const spmv::HaloPlan& plan() const { return plan_; }

  std::span<Piece> pieces() { return pieces_; }
  std::span<const Piece> pieces() const { return pieces_; }
  /// Rows of all pieces of this rank, with the overlap.
  std::size_t piece_row_count() const { return piece_row_count_; }
  /// Calls work(number on this rank) for the pieces of a thread: every thread has as many.
  template <class Work>
  void for_each_of(const comm_thread::TeamThread& thread, const Work& work) const {
    for (auto i = static_cast<std::size_t>(thread.index); i < pieces_.size();
         i += static_cast<std::size_t>(thread.count))
      work(i);
  }

 private:
  std::vector<OverlappingRows> cut_rows() const;
  std::vector<OverlappingRows> collective_cut_graph(const spmv::DistributedMatrix& matrix);
  void collective_plan_halo(std::vector<OverlappingRows> cut, const std::vector<WholeRows>& whole);
  void collective_factor(const std::vector<LocalMatrix>& matrices);
  std::unique_ptr<Factor> make_factor(const LocalMatrix& matrix, const Piece& piece) const;
  double forecast_factors(const std::vector<LocalMatrix>& matrices) const;

  SchwarzOptions options_;
  comm_thread::Communicator communicator_;
  const comm_thread::ComputeTeam& team_;
  std::int64_t count_;
  spmv::RowPartition partition_;  // of vectors
  std::int64_t largest_ = 0;
  std::int64_t lu_count_ = 0;
  bool is_symmetric_ = true;
  spmv::HaloPlan plan_;
  std::vector<Piece> pieces_;
  std::size_t piece_row_count_ = 0;
};

}  // namespace weft::solver
