#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/eigen/small_matrix.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// The basis of a search space: panels of `width` vectors that stand together row by row, so that
/// a panel is what a product of several vectors reads.
///
///     panel p: | row 0: vector p·width … p·width + width − 1 | row 1: … |
///
/// Sums over rows are the same to the last bit on any number of ranks and threads: each row block
/// is summed row by row, and the blocks are added exactly.
class BlockBasis {
 public:
  /// `width`: 1, 2, 4 or 8. Collective. Thread: the main thread, outside the team, as for all
  /// functions below. Lifetime: `op` outlives it.
  BlockBasis(const spmv::LinearOperator& op, int width, int panel_count);

  int width() const { return width_; }
  int panel_count() const { return static_cast<int>(panels_.size()); }
  /// Shape: [row_count · width].
  double* panel(int number) { return panels_[static_cast<std::size_t>(number)].data(); }
  const double* panel(int number) const { return panels_[static_cast<std::size_t>(number)].data(); }

  /// Fills the first `count` columns of a panel with numbers in [−1, 1), each a hash of its global
  /// row and of `first_column` plus its number in the panel. Shape: y: as a panel.
  void fill_columns_randomly(double* y, int count, std::int64_t first_column) const;

  /// Puts a panel in the place of another, which takes that of the first.
  void exchange(int one, int other) {
    std::swap(panels_[static_cast<std::size_t>(one)], panels_[static_cast<std::size_t>(other)]);
  }

  /// Qᵀ·Y for Q = the first `count` panels. Shape: y: as a panel; result: [count · width, width].
  /// Collective.
  SmallMatrix collective_products(int count, const double* y);

  /// Yᵀ·Y. Shape: y: as a panel; result: [width, width]. Collective.
  SmallMatrix collective_gram(const double* y);

  /// Y −= Q·C for Q = the first `count` panels. Shape: c: [count · width, width].
  void subtract(int count, const SmallMatrix& c, double* y) const;

  /// Y = Y·C. Shape: c: [width, width].
  void multiply(const SmallMatrix& c, double* y) const;

  /// The first panels become Q·C for Q = the first `count` panels.
  /// Shape: c: [count · width, a multiple of width].
  void rotate(int count, const SmallMatrix& c);

  /// Norms of the columns of P·C − Q·C·diag(values), for Q = the first panels and P = `products`,
  /// panels of the same shape. Shape: c: [k, k], k = products.size() · width. Collective.
  std::vector<double> collective_residual_norms(std::span<const double* const> products,
                                                const SmallMatrix& c,
                                                std::span<const double> values);

 private:
  using Panel = perfmodel::HugePageBuffer<double>;

  /// Calls work(first row, number of rows) for the rows of a thread, some row blocks at a time.
  template <class Work>
  void for_each_segment(const comm_thread::TeamThread& thread, const Work& work) const;
  /// `count` sums of which `add(thread, row block, sums)` adds the parts of a row block.
  template <class Add>
  std::vector<double> collective_sums(int count, const Add& add);

  const spmv::LinearOperator& op_;
  int width_;
  std::vector<Panel> panels_;
  comm_thread::ReproducibleSum sum_;  // [width · width]
};

}  // namespace weft::solver
