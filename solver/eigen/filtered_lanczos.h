#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solver/eigen/block_basis.h"
#include "solver/eigen/chebyshev_filter.h"
#include "solver/eigen/eigen_report.h"
#include "solver/eigen/small_matrix.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// What to look for, and how.
struct EigenOptions {
  int count = 1;
  SpectrumEnd end = SpectrumEnd::smallest;
  double tolerance = 1e-8;  // ‖A x − θ x‖ <= tolerance · ‖A‖
  /// Vectors of a block: 1, 2, 4 or 8. A value with more copies than that may be found too seldom.
  int width = 4;
  int subspace = 0;  // vectors of the search space; 0: chosen
  int degree = 0;  // of the filter; 0: chosen
  int max_restarts = 100;
  spmv::Mode mode = spmv::Mode::task;
};

/// Some eigenvalues at one end of the spectrum of a symmetric matrix, with their vectors: thick-
/// restart block Lanczos on a Chebyshev polynomial of the matrix, which is large at the wanted end
/// and small elsewhere, so that products, which are cheap in blocks, take the place of vectors of
/// the basis, which are not. The basis is kept orthonormal in full.
///
/// The first search space is that of the matrix itself: it tells where the spectrum ends. All sums
/// over rows are exact from row block to row block, and small matrices are the same everywhere, so
/// that values and vectors have the same bits on any number of ranks and threads and in any mode.
/// Memory: subspace + 4 · width + count vectors, the last in whole blocks.
/// Source: Wu, Simon 2000, "Thick-restart Lanczos method for large symmetric eigenvalue problems";
/// filter: Zhou, Saad 2007, "A Chebyshev–Davidson algorithm for large symmetric eigenproblems".
class FilteredLanczos {
 public:
  /// Collective. Thread: the main thread, outside the team, as below. Lifetime: `op` outlives it.
  /// Throws comm_thread::InputError if `count` is more than the matrix can have.
  FilteredLanczos(spmv::SparseOperator& op, const EigenOptions& options);

  /// Vectors in memory of a search, for a matrix of so many rows.
  static double vector_count(std::int64_t rows, const EigenOptions& options);

  /// Collective. Throws comm_thread::MpiError.
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
  void collective_expand(int panels);
  bool collective_append(double* y, bool is_rough);
  void restart(const SymmetricEigen& ritz, int kept_panels);
  Ritz collective_ritz(int panels);
  SymmetricEigen projected(int panels) const;
  void collective_look_at_spectrum();
  SymmetricEigen best_of_spectrum() const;
  bool collective_widen(const Ritz& ritz);
  double value_of_filter(double filtered) const;
  void choose_filter(double first, double last);
  bool is_done(const Ritz& ritz) const;
  int kept_panels(const SymmetricEigen& found) const;
  double value_at(const SymmetricEigen& found, int number) const;
  void collective_follow(const Ritz& ritz, double first, double last, int kept);

  spmv::SparseOperator& op_;
  EigenOptions options_;
  int most_panels_;  // of the search space
  PanelFilter filter_;
  BlockBasis basis_;  // [most_panels + 2]: the last are what comes next, and room for a product
  BlockBasis images_;  // A·Q of the wanted panels
  FilterPolynomial polynomial_;
  SmallMatrix projection_;  // Qᵀ·p(A)·Q, the upper triangle
  int size_ = 0;  // panels that are orthonormal
  int processed_ = 0;  // panels whose image is in `projection_`
  std::int64_t random_columns_ = 0;
  bool is_complete_space_ = false;  // nothing is left beside the basis
  double least_ = 0;  // ends of the spectrum, a little outside
  double greatest_ = 0;
  double norm_ = 0;
  int filter_count_ = 0;
  double damped_from_ = 0;  // where the damped interval begins, seen from the wanted end
};

}  // namespace weft::solver
