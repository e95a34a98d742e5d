#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "perfmodel/huge_page_buffer.h"
#include "solver/direct/small_matrix.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/search_keeper.h"
#include "solver/eigen/start_vectors.h"
#include "solver/panels/chebyshev_filter.h"
#include "solver/panels/panel_products.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Some eigenvalues at one end of the spectrum of A·x = λ·B·x, A symmetric and B symmetric positive
/// definite, with their vectors: LOBPCG, which needs no factorization, but a preconditioner M ≈ A⁻¹
/// where the smallest values are wanted of an A that is ill-conditioned.
///
///     search space of a step:    X | W | P     X: Ritz vectors, more than are wanted
///                                              W: M·(A·x − θ·B·x) of those that have not converged
///                                              P: what the last step added to these
///
/// W is made B-orthonormal to X and P, twice, and each step works with the products SᵀBS that there
/// are instead of the identity, so that nothing depends on how orthonormal the basis still is.
/// Vectors that have converged stay in X but bring neither W nor P (soft locking). All sums over
/// rows are exact from row block to row block and small matrices the same everywhere: the bits are
/// the same on any number of ranks and threads and in any mode, if M's are.
///
/// Memory: three blocks of vectors with A's and B's products of them: 9 · block, 6 · block without
/// B. Where three blocks would not fit into a matrix of at most `whole_rows` rows, X begins with
/// all unit vectors, so that its Ritz vectors are all there are.
/// Source: Knyazev 2001, "Toward the optimal preconditioned eigensolver"; the basis: Hetmaniuk,
/// Lehoucq 2006, "Basis selection in LOBPCG"; Duersch, Shao, Yang, Gu 2018, "A robust and efficient
/// implementation of LOBPCG".
class Lobpcg {
 public:
  /// `mass`: B, null for the identity; its rows are on the ranks that have those of `op`. `m`: null
  /// for the identity. Collective. Thread: the main thread, outside the team, as below. Lifetime:
  /// all three outlive it. Throws comm_thread::InputError if `count` is more than the matrix can
  /// have, and where B is not positive definite.
  Lobpcg(spmv::SparseOperator& op, spmv::SparseOperator* mass, Preconditioner* m,
         const EigenOptions& options, SearchHooks hooks = {});

  /// Most eigenvalues of a search.
  static constexpr int most_count = 256;
  /// Vectors in memory of a search, for a matrix of so many rows.
  static double vector_count(std::int64_t rows, const EigenOptions& options, bool has_mass);
  /// Vectors of a checkpoint of it.
  static double kept_vector_count(std::int64_t rows, const EigenOptions& options, bool has_mass);

  /// Begins with vectors of the caller, and random ones where these are too few.
  void begin_with(StartVectors start) { start_ = std::move(start); }

  /// ‖A·x − θ·B·x‖ <= tolerance · ‖A‖∞ · ‖x‖ for all wanted pairs, or `max_iterations`. Where it is
  /// stopped, the report has the pairs that have converged. Collective. Throws
  /// comm_thread::MpiError, and comm_thread::InputError where a checkpoint to continue from is of
  /// another search, or vectors to begin with depend on each other.
  EigenReport collective_solve();

  /// The vector of a pair of the report, of xᵀBx = 1; its entry of largest modulus (the first of
  /// equal ones on the lowest rank) is positive. Shape: [row_count]. Collective.
  std::vector<double> collective_vector(int number) const;

 private:
  /// A block of vectors with its images.
  struct Block {
    std::vector<double*> vectors;
    std::vector<double*> of_a;
    std::vector<double*> of_b;  // the vectors themselves without B
  };
  /// The images of a block that a list of blocks has.
  using Image = std::vector<double*> Block::*;

  int width() const { return products_.width(); }
  int block() const { return panel_count_ * width(); }
  /// True if X has as many vectors as the matrix has rows.
  bool is_whole() const { return block() == op_.global_row_count(); }
  Block part_of(const Block& block, int panels) const;
  static std::vector<const double*> joined(std::span<const Block* const> blocks, Image image);
  void collective_expect_definite();
  void collective_start();
  bool collective_start_randomly(bool is_smooth);
  void collective_multiply_by_a(const Block& block);
  void collective_multiply_by_b(const Block& block);
  void collective_find_residuals();
  void collective_take_start_vectors();
  double limit() const;
  bool is_done() const;
  std::vector<int> active_columns() const;
  void collective_precondition(std::span<const int> columns);
  void collective_orthonormalise(Block& w);
  bool collective_project(const Block& w, std::span<const int> columns);
  EigenReport report_of(SolveStatus status);
  static SearchKeeper::Size state_size(int width, int panels, bool has_mass);
  SearchState state();
  std::uint64_t collective_preconditioner_checksum();
  bool collective_take_state();

  spmv::SparseOperator& op_;
  spmv::SparseOperator* mass_;
  Preconditioner* preconditioner_;
  EigenOptions options_;
  int panel_count_;  // of a block
  double unit_of_a_ = 1;
  double unit_of_b_ = 1;
  double norm_ = 0;  // ‖A‖∞ in units
  double least_of_b_ = 1;  // of its eigenvalues, in units
  PanelProducts products_;
  PanelFilter times_a_;
  std::unique_ptr<PanelFilter> times_b_;
  std::vector<PanelProducts::Panel> memory_;
  Block x_;
  Block w_;
  Block p_;
  int p_panels_ = 0;
  perfmodel::HugePageBuffer<double> r_;  // of M
  perfmodel::HugePageBuffer<double> z_;
  std::vector<double> values_;  // [block], from the wanted end, in units
  std::vector<double> residuals_;  // [block], of x of norm 1, in units
  std::vector<double> norms_;  // ‖x‖, [block]
  std::vector<double> norms_of_r_;  // [block]
  SearchKeeper keeper_;
  StartVectors start_;
  int iterations_ = 0;
  int age_ = 0;  // steps since the images were products
  bool is_fresh_ = true;
  std::int64_t products_before_ = 0;  // of the run that this one continues
  std::vector<int> order_;  // numbers of the columns of X as the report has them
};

}  // namespace weft::solver
