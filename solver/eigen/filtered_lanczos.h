#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/direct/small_matrix.h"
#include "solver/eigen/eigen_options.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/search_keeper.h"
#include "solver/eigen/start_vectors.h"
#include "solver/panels/block_basis.h"
#include "solver/panels/chebyshev_filter.h"
#include "spmv/matrix/sparse_operator.h"

namespace weft::solver {

/// Some eigenvalues at one end of the spectrum of a symmetric matrix, with their vectors: thick-
/// restart block Lanczos on a Chebyshev polynomial of the matrix, which is large at the wanted end
/// and small elsewhere, so that products, which are cheap in blocks, take the place of vectors of
/// the basis, which are not. A step subtracts what is known from the steps before, and then, in one
/// more pass, what is left along all vectors; a second pass follows where that is not small.
///
/// A Krylov space of a block has at most as many copies of a value as the block has vectors. Where
/// a value is found as often as that, a search begins again with a block of random vectors beside
/// the pairs that are found, until no value has as many copies as all blocks together have vectors.
///
/// Lanczos with one vector tells first where the spectrum ends, and which filter fits. All sums
/// over rows are exact from row block to row block, and small matrices are the same everywhere, so
/// that values and vectors have the same bits on any number of ranks and threads and in any mode.
/// Memory: subspace + 3 · width vectors; more where nearly all of them are wanted. Matrices of at
/// most `whole_rows` rows are solved whole instead, which takes two vectors a row.
/// Source: Wu, Simon 2000, "Thick-restart Lanczos method for large symmetric eigenvalue problems";
/// filter: Zhou, Saad 2007, "A Chebyshev–Davidson algorithm for large symmetric eigenproblems".
class FilteredLanczos {
 public:
  /// Collective. Thread: the main thread, outside the team, as below. Lifetime: `op` outlives it.
  /// Throws comm_thread::InputError if `count` is more than the matrix can have.
  FilteredLanczos(spmv::SparseOperator& op, const EigenOptions& options, SearchHooks hooks = {});

  /// Throws comm_thread::InputError if `count` is more than a matrix of so many rows can have.
  static void check_count(std::int64_t rows, int count);
  /// Vectors in memory of a search, for a matrix of so many rows.
  static double vector_count(std::int64_t rows, const EigenOptions& options);
  /// Vectors of a checkpoint of it.
  static double kept_vector_count(std::int64_t rows, const EigenOptions& options);

  /// Begins with vectors of the caller, at most as many as a block has, and random ones beside
  /// them.
  void begin_with(StartVectors start) { start_ = std::move(start); }

  /// Where it is stopped, the report has the pairs that have converged. Collective. Throws
  /// comm_thread::MpiError, and comm_thread::InputError where a checkpoint to continue from is of
  /// another search, or a vector to begin with is zero.
  EigenReport collective_solve();

  /// The vector of a pair of the report, of norm 1; its entry of largest modulus (the first of
  /// equal ones on the lowest rank) is positive. Shape: [row_count]. Collective.
  std::vector<double> collective_vector(int number) const;

 private:
  /// Ritz pairs of A in the span of the first panels, the wanted ones first.
  struct Ritz {
    std::vector<double> values;
    SmallMatrix vectors;
    std::vector<double> residuals;
  };

  int width() const { return basis_.width(); }
  bool is_smallest() const { return options_.end == SpectrumEnd::smallest; }
  int wanted_panels() const;
  void collective_start_from(int count, const SmallMatrix& combination);
  void collective_start_randomly();
  void collective_take_start_vectors();
  void collective_expand(int panels);
  bool collective_step();
  int take_known();
  bool has_orthonormal_rest();
  bool collective_append(double* y, bool is_rough);
  void collective_begin_bounded();
  Ritz collective_search(EigenReport& report);
  Ritz collective_search_whole(EigenReport& report);
  Ritz collective_search_space(EigenReport& report);
  void restart(const SymmetricEigen& found, int kept_panels);
  Ritz collective_ritz(int panels);
  SymmetricEigen projected(int panels) const;
  bool collective_estimate();
  void collective_look_at_spectrum();
  SymmetricEigen found_so_far() const;
  bool goes_beyond(const Ritz& ritz) const;
  double value_of_filter(double filtered) const;
  void choose_filter(double first, double last);
  double filtered_residual(const SymmetricEigen& found, int number) const;
  double distance_to_end(const SymmetricEigen& found) const;
  bool is_done(const Ritz& ritz) const;
  bool is_next_known(const Ritz& ritz) const;
  bool may_lack_copies(const Ritz& ritz) const;
  void collective_look_for_copies();
  int kept_panels(int panels) const;
  double value_at(const SymmetricEigen& found, int number) const;
  bool has_better_filter(double first, double last) const;
  void collective_follow(double first, double last, int count, const SmallMatrix& combination);
  double damping_from(const SymmetricEigen& found, int kept) const;
  std::int64_t product_count() const { return products_before_ + filter_.product_count(); }
  template <class Carry>
  void for_each_number(const Carry& carry);
  SearchState state();
  bool collective_take_state();
  bool collective_ends_step();
  void collective_keep_last();

  spmv::SparseOperator& op_;
  EigenOptions options_;
  int most_panels_;  // of the search space
  PanelFilter filter_;
  BlockBasis basis_;  // behind those of the space what comes next; free ones take A·Q of the wanted
  FilterPolynomial polynomial_;
  /// Qᵀ·p(A)·Q, the upper triangle; of the panel that is next what is known from those before.
  SmallMatrix projection_;
  BlockBasis::Step step_;
  SmallMatrix known_;  // of the panel that is processed: [size · width, width]
  SmallMatrix factor_;  // Y·factor is orthonormal
  SmallMatrix coupling_;  // and times coupling is Y again
  int size_ = 0;  // panels that are orthonormal
  int processed_ = 0;  // panels whose image is in `projection_`
  std::int64_t random_columns_ = 0;
  bool is_complete_space_ = false;  // nothing is left beside the basis
  double unit_ = 1;  // a power of two, above ‖A‖
  double least_ = 0;  // ends of the spectrum, a little outside
  double greatest_ = 0;
  double norm_ = 0;
  int filter_count_ = 0;
  int spaces_ = 0;  // that the present filter has filled, but for the last
  int blocks_ = 1;  // random blocks that the present search space began with
  double distance_ = HUGE_VAL;  // of the last search space to the end
  double trust_ = 1;  // in estimates of residuals: these may be so much of the tolerance
  double damped_from_ = 0;  // where the damped interval begins, seen from the wanted end
  StartVectors start_;
  SearchKeeper keeper_;
  bool has_looked_ = false;  // at the spectrum
  bool is_stopped_ = false;
  std::int64_t steps_ = 0;
  int restarts_ = 0;
  std::int64_t products_before_ = 0;  // of the run that this one continues
  std::vector<int> order_;  // numbers of the Ritz pairs as the report has them
};

}  // namespace weft::solver
