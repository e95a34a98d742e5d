#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "solver/direct/small_matrix.h"
#include "solver/eigen/search_keeper.h"
#include "solver/panels/block_basis.h"
#include "solver/panels/chebyshev_filter.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// Pairs of A in a part of a search space, in ascending order of values. Shape: vectors: square,
/// as large as the panels that hold the part; what is beyond it stays as it is.
struct RitzPairs {
  std::vector<double> values;
  std::vector<double> residuals;  // ‖A·x − value·x‖
  SmallMatrix vectors;
};

/// A block Krylov space of a polynomial p(A) of high degree, orthonormal to the last bits: beside
/// the products of a step, two passes over all of its vectors take no time, and p(A) is projected
/// with all of them.
///
///     panels:  processed: their images are in the projection | one that is next
///
/// Sums over rows are those of BlockBasis: the same bits on any number of ranks and threads.
/// Functions are collective. Thread: the main thread, outside the team.
class FilteredSpace {
 public:
  /// `width`: 1, 2, 4 or 8. `panels`: of the space; `more_panels`: in memory beside these.
  /// Lifetime: `op` outlives it.
  FilteredSpace(spmv::SparseOperator& op, int width, int panels, int more_panels, spmv::Mode mode);

  int width() const { return basis_.width(); }
  /// Of the space, at most.
  int panels() const { return panels_; }
  int processed() const { return processed_; }
  /// True if nothing is left beside the space.
  bool is_whole() const { return is_whole_; }
  std::int64_t product_count() const { return filter_.product_count(); }

  /// Begins with random vectors, which were in no space before.
  void collective_begin();
  /// Keeps the first `count` panels, and goes on with random vectors beside them.
  void collective_begin_beside(int count);
  /// Begins with the sums of every so many vectors of the space, for another polynomial.
  void collective_begin_with_sums();
  /// Holds unit vectors, as many as the matrix has rows, instead of a space of a polynomial.
  void take_all_vectors();
  /// too_large: p(A) is larger than it may be, or no number, somewhere in the spectrum.
  enum class Fill { done, too_large, ended };
  /// Processes all panels, unless ends() says after one that no other is to follow. p: at most 1 in
  /// the spectrum.
  Fill collective_fill(const FilterSeries& series, const std::function<bool()>& ends);

  /// Ritz pairs of p(A), in ascending order.
  SymmetricEigen projected() const;
  /// The norm of the residual of such a pair, `number` from the greatest.
  double residual_of(const SymmetricEigen& found, int number) const;
  /// Keeps the Ritz vectors of the greatest values, which fill so many panels, in descending order.
  void restart(const SymmetricEigen& found, int kept_panels);

  /// Pairs of A in the span of the first `count` vectors. `unit`: a power of two near ‖A‖. Room for
  /// their images, so many panels, is behind those of the space.
  RitzPairs collective_ritz(int count, double unit);
  /// The first vectors become those of the pairs.
  void take(const RitzPairs& pairs);
  /// Ends the search: keeps the memory of the first `count` vectors alone.
  void keep_only(int count) { basis_.release_panels_from(panels_for(count)); }
  /// max |QᵀQ − I| of the first `count` vectors.
  double collective_orthogonality(int count) { return basis_.collective_orthogonality(count); }
  /// Calls carry(number) for each number of its state.
  template <class Carry>
  void for_each_number(const Carry& carry) {
    carry(size_);
    carry(processed_);
    carry(is_whole_);
    carry(random_columns_);
    for (SmallMatrix* const matrix : {&projection_, &rest_})
      for (int column = 0; column < matrix->columns(); ++column)
        for (int row = 0; row < matrix->rows(); ++row) carry((*matrix)(row, column));
  }
  /// Orthonormal panels, which are its state beside the numbers: at most one more than `panels()`.
  int size() const { return size_; }
  double* panel(int number) { return basis_.panel(number); }

  /// Shape: a panel.
  const double* panel(int number) const { return basis_.panel(number); }

 private:
  int panels_for(int count) const { return (count + width() - 1) / width(); }
  bool collective_step(const FilterSeries& series);
  void collective_append(double* y);

  spmv::SparseOperator& op_;
  int panels_;
  PanelFilter filter_;
  BlockBasis basis_;
  SmallMatrix projection_;  // of p(A), the upper triangle of what is processed
  SmallMatrix rest_;  // of the last step along the panel that is next: [width, width]
  int processed_ = 0;
  int size_ = 0;  // panels that are orthonormal
  bool is_whole_ = false;
  std::int64_t random_columns_ = 0;
};

}  // namespace weft::solver
