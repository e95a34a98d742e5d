#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/reproducible_sum.h"
#include "perfmodel/huge_page_buffer.h"
#include "solver/direct/small_matrix.h"
#include "solver/panels/bounded_sum.h"
#include "solver/panels/panel_kernels.h"
#include "spmv/modes/linear_operator.h"

namespace weft::solver {

/// Products and combinations of lists of panels, which need not be orthonormal: a panel is `width`
/// vectors that stand together row by row, as in BlockBasis, and a list of panels has its vectors
/// side by side.
///
/// Sums over rows are the same to the last bit on any number of ranks and threads: each chunk of a
/// row block is summed row by row, scaled by powers of two that make the norms of all vectors at
/// most 1, and added without rounding. Functions are collective. Thread: the main thread, outside
/// the team. Lifetime: `op` outlives it.
class PanelProducts {
 public:
  using Panel = perfmodel::HugePageBuffer<double>;

  /// `width`: 1, 2, 4 or 8. `most_panels`: of a list.
  PanelProducts(const spmv::LinearOperator& op, int width, int most_panels);

  int width() const { return width_; }
  /// Zero, and first touched by the threads that will use it.
  Panel make_panel() const;

  /// The norms of all columns. Shape: [count · width].
  std::vector<double> collective_norms(Panels list);
  /// SᵀT. Shape: [count of s · width, count of t · width].
  SmallMatrix collective_products(Panels s, Panels t);

  /// results = Q·C; panels of `results` may be among those of Q, at any place.
  /// Shape: c: [count of q · width, count of results · width].
  void combine(Panels q, const SmallMatrix& c, std::span<double* const> results);
  /// results += Q·C, likewise, but panels of `results` are none of Q's.
  void add(Panels q, const SmallMatrix& c, std::span<double* const> results) const;

 private:
  /// Calls work(first row, number of rows) for the rows of a thread, chunk by chunk.
  template <class Work>
  void run_over_chunks(const Work& work) const;
  /// Room of each thread for so many numbers.
  void make_room(std::size_t size);
  std::vector<double> coefficients(const SmallMatrix& c, int panels, int results) const;
  void add_products(int thread, Panels s, Panels t, std::int64_t begin, std::int64_t rows,
                    std::span<const double> scale_of_s, std::span<const double> scale_of_t);

  const spmv::LinearOperator& op_;
  int width_;
  std::int64_t chunk_rows_;
  std::vector<std::vector<double>> rooms_;  // of each thread
  comm_thread::ReproducibleSum exact_;  // squares: [most_panels · width]
  BoundedSum bounded_;  // [(most_panels · width)²]
};

}  // namespace weft::solver
