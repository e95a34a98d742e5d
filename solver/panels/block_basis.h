#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/direct/small_matrix.h"
#include "solver/panels/bounded_sum.h"
#include "solver/panels/search_steps.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// The basis of a search space: panels of `width` vectors that stand together row by row, so that
/// a panel is what a product of several vectors reads.
///
///     panel p: | row 0: vector p·width … p·width + width − 1 | row 1: … |
///
/// Sums over rows are the same to the last bit on any number of ranks and threads: each chunk of a
/// row block is summed row by row, and the chunks are added without rounding: exactly where nothing
/// is known of their size (ReproducibleSum), else below a bound (BoundedSum).
///
/// Passes of a step are functions of every thread of the team, so that one run holds a whole step.
/// Where they take or give small matrices, these are the same for all threads, and a barrier stands
/// between writing and reading them.
class BlockBasis {
 public:
  /// `width`: 1, 2, 4 or 8. `sum_count`: of sums of unknown size, at most. Collective. Thread: the
  /// main thread, outside the team, as for all functions without a TeamThread. Lifetime: `op`
  /// outlives it.
  BlockBasis(const spmv::LinearOperator& op, int width, int panel_count, int sum_count);

  /// Writes to `steps` from now on what is done, unless it is null. Lifetime: `steps` outlives
  /// this.
  void record(SearchSteps* steps) { steps_ = steps; }

  int width() const { return width_; }
  int panel_count() const { return static_cast<int>(panels_.size()); }
  /// Shape: [row_count · width].
  double* panel(int number) { return panels_[static_cast<std::size_t>(number)].data(); }
  const double* panel(int number) const { return panels_[static_cast<std::size_t>(number)].data(); }

  /// Gives back the memory of all panels but the first ones.
  void release_panels_from(int count) {
    panels_.resize(static_cast<std::size_t>(std::min(count, panel_count())));
    starts_.resize(panels_.size());
  }

  /// Fills the first `count` columns of a panel with numbers in [−1, 1), each a hash of its global
  /// row and of `first_column` plus its number in the panel. Shape: y: as a panel.
  void fill_columns_randomly(double* y, int count, std::int64_t first_column) const;

  /// The vectors of the first `count` panels become the unit vectors, and zero beyond the rows.
  void set_unit_vectors(int count);

  /// Puts a panel in the place of another, which takes that of the first.
  void exchange(int one, int other) {
    std::swap(panels_[static_cast<std::size_t>(one)], panels_[static_cast<std::size_t>(other)]);
    std::swap(starts_[static_cast<std::size_t>(one)], starts_[static_cast<std::size_t>(other)]);
  }

  /// QᵀY for Q = the first `count` panels and Y of columns whose norms are at most 1. Shape: y: as
  /// a panel; result: [count · width, width]. Collective.
  SmallMatrix collective_products(int count, double* y);

  /// YᵀY. Shape: y: as a panel; result: [width, width]. Collective.
  SmallMatrix collective_gram(const double* y);

  /// max |QᵀQ − I| of the first `count` vectors. Collective.
  double collective_orthogonality(int count);

  /// Y −= Q·C for Q = the first `count` panels. Shape: c: [count · width, width].
  void subtract(int count, const SmallMatrix& c, double* y) const;

  /// Y = Y·C. Shape: c: [width, width].
  void multiply(const SmallMatrix& c, double* y) const;

  /// The first panels become Q·C for Q = the first `count` panels.
  /// Shape: c: [count · width, a multiple of width].
  void rotate(int count, const SmallMatrix& c);

  /// Norms of the columns of P·C − Q·C·diag(values), for Q = the first panels and P those from
  /// `products` on. Shape: c: [k, k], k = values.size(), a multiple of width. Collective.
  std::vector<double> collective_residual_norms(int products, const SmallMatrix& c,
                                                std::span<const double> values);

  /// What the passes of a step find.
  struct Step {
    SmallMatrix with_last;  // XᵀY of the panel X that was multiplied, [width, width]
    std::vector<double> norms;  // of the columns of Y before anything is subtracted
    SmallMatrix products;  // of all panels and Y, less what was known: [count · width, width]
    SmallMatrix gram;  // of what is left, [width, width]
  };

  /// XᵀY and the norms of the columns of Y, into `step`, which the primary thread writes.
  void collective_pair(const comm_thread::TeamThread& thread, const double* x, const double* y,
                       Step& step);
  /// Y −= Q·C for the known C, of the panels from `first` to `count`; then the products of the
  /// first `count` panels with Y, in the same pass. Shape: known: [count · width, width].
  void collective_subtract_known(const comm_thread::TeamThread& thread, int first, int count,
                                 const SmallMatrix& known, double* y, Step& step);
  /// Y −= Q·C for C = step.products, and the Gram matrix of Y in the same pass.
  void collective_subtract_found(const comm_thread::TeamThread& thread, int count, double* y,
                                 Step& step);
  /// `multiply`, for every thread of the team.
  void multiply(const comm_thread::TeamThread& thread, const SmallMatrix& c, double* y) const;

 private:
  using Panel = perfmodel::HugePageBuffer<double>;

  /// The first numbers of panels.
  std::span<const double* const> panels(int first, int count) const {
    return std::span<const double* const>(starts_).subspan(static_cast<std::size_t>(first),
                                                           static_cast<std::size_t>(count));
  }
  /// Calls work(first row, number of rows) for the rows of a thread, chunk by chunk.
  template <class Work>
  void for_each_chunk(const comm_thread::TeamThread& thread, const Work& work) const;
  template <class Work>
  void run_over_chunks(const Work& work) const;
  /// Records a pass that reads or writes so many panels and multiplies so many pairs of them, and
  /// the sum that follows, if its messages have any bytes.
  void note_pass(int moved, int multiplied, std::size_t message_bytes = 0) const {
    if (!steps_) return;
    steps_->add_pass(moved * width_, 2.0 * width_ * width_ * multiplied);
    if (message_bytes > 0) steps_->add_sum(message_bytes);
  }
  /// Of a message of sums of unknown size: those of all, however many are used.
  std::size_t exact_bytes() const {
    return static_cast<std::size_t>(exact_count_) * comm_thread::ExactAccumulator::word_count *
           sizeof(std::int64_t);
  }
  std::vector<double>& room(const comm_thread::TeamThread& thread) {
    return rooms_[static_cast<std::size_t>(thread.index)];
  }

  const spmv::LinearOperator& op_;
  int width_;
  std::int64_t chunk_rows_;
  std::vector<Panel> panels_;
  std::vector<double*> starts_;
  std::vector<std::vector<double>> rooms_;  // of each thread, [panel_count · width²]
  std::vector<double> coefficients_;  // of a pass: [panel_count · width²]
  int exact_count_;  // of sums of unknown size
  comm_thread::ReproducibleSum exact_;
  BoundedSum bounded_;  // [panel_count · width²]
  SearchSteps* steps_ = nullptr;
};

}  // namespace weft::solver
