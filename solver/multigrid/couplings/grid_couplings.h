#pragma once

#include <array>
#include <cstddef>

#include "perfmodel/huge_page_buffer.h"
#include "solver/multigrid/couplings/coupling_view.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// Couplings of a 7-point operator on the points of a box, in double precision: A is symmetric, and
/// a row is Σ coupling·(x_i - x_neighbour) + excess·x_i, where x is 0 beyond the boundary.
///
///     n = 3      |──b0──o──b1──o──b2──o──b3──|       b_i: between the points i - 1 and i;
///                       0      1      2              b_0 and b_n: with the boundary
///
/// Set-up builds one such object for each grid; the cycle reads LevelCouplings.
class GridCouplings {
 public:
  GridCouplings() : GridCouplings(spmv::GridBox{}) {}
  /// Zeros. `points`: those with all of their couplings.
  explicit GridCouplings(const spmv::GridBox& points)
      : points_(points), layout_(with_end(points), 0) {
    for (auto& values : before_) values = Values(layout_.element_count());
    excess_ = Values(layout_.element_count());
  }

  /// Couplings with the next points belong to a box with one more point in each direction.
  static spmv::GridBox with_end(spmv::GridBox points) {
    if (!points.is_empty())
      for (auto& end : points.end) ++end;
    return points;
  }

  const spmv::GridBox& points() const { return points_; }
  /// Of all arrays.
  const spmv::GridLayout& layout() const { return layout_; }
  /// Elements from a point to the next one in direction d.
  std::ptrdiff_t stride(std::size_t d) const {
    return d == 0 ? 1 : d == 1 ? layout_.row_stride() : layout_.plane_stride();
  }

  /// Couplings of a point and the one before it in direction `d`.
  double* before(std::size_t d) { return before_[d].data(); }
  const double* before(std::size_t d) const { return before_[d].data(); }
  /// What a row adds up to, without its couplings with the boundary.
  double* excess() { return excess_.data(); }
  const double* excess() const { return excess_.data(); }

  /// `grid`: all points. Lifetime: the couplings outlive it.
  CouplingView view(const spmv::GridBox& grid) const {
    return {.points = points_,
            .grid = grid,
            .layout = layout_,
            .before = {before(0), before(1), before(2)},
            .excess = excess(),
            .factor = 1};
  }

  /// Of the point at element `i`.
  double diagonal(std::size_t i) const {
    double sum = excess_[i];
    for (std::size_t d = 0; d < 3; ++d)
      sum += before_[d][i] + before_[d][i + static_cast<std::size_t>(stride(d))];
    return sum;
  }

 private:
  using Values = perfmodel::HugePageBuffer<double>;

  spmv::GridBox points_;
  spmv::GridLayout layout_;
  std::array<Values, 3> before_;
  Values excess_;
};

}  // namespace weft::solver
