#pragma once

#include <array>
#include <cstddef>

#include "perfmodel/huge_page_buffer.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// Couplings of the points of one plane, in memory that the planes of a box take turns to use.
///
///     rows y of the box       couplings with the points before them, and one more at the end of
///                             each row; excess
///     the row after the last  couplings in y only
class CouplingPlane {
 public:
  CouplingPlane() = default;
  /// Zeros. `points`: those of the box, whose planes it can hold.
  explicit CouplingPlane(const spmv::GridBox& points)
      : row_stride_((points.size(0) + 1 + line) / line * line),
        array_stride_(row_stride_ * (points.size(1) + 1)),
        first_(-points.begin[0] - points.begin[1] * row_stride_),
        values_(static_cast<std::size_t>(4 * array_stride_)) {}

  /// The row y, indexed by x: couplings with the points before them in direction d.
  double* before(std::size_t d, spmv::GlobalIndex y) {
    return values_.data() + offset(static_cast<std::ptrdiff_t>(d), y);
  }
  const double* before(std::size_t d, spmv::GlobalIndex y) const {
    return values_.data() + offset(static_cast<std::ptrdiff_t>(d), y);
  }
  /// What rows add up to, without their couplings with the boundary. Not filled where
  /// `has_excess` is false.
  double* excess(spmv::GlobalIndex y) { return values_.data() + offset(3, y); }
  const double* excess(spmv::GlobalIndex y) const { return values_.data() + offset(3, y); }

  bool has_excess = false;  // at any point

 private:
  static constexpr std::ptrdiff_t line = 8;

  std::ptrdiff_t offset(std::ptrdiff_t array, spmv::GlobalIndex y) const {
    return first_ + array * array_stride_ + y * row_stride_;
  }

  std::ptrdiff_t row_stride_ = 0;
  std::ptrdiff_t array_stride_ = 0;
  std::ptrdiff_t first_ = 0;  // the point (0, 0)
  perfmodel::HugePageBuffer<double> values_;
};

/// Takes the planes of a box one after the other, in ascending order.
class PlaneSink {
 public:
  virtual ~PlaneSink() = default;
  /// The memory of plane z; at least that of the plane before it is another.
  virtual CouplingPlane& place(spmv::GlobalIndex z) = 0;
  /// place(z) is filled. After the last plane of the box comes one with couplings in z only.
  virtual void take(spmv::GlobalIndex z) = 0;
};

}  // namespace weft::solver
