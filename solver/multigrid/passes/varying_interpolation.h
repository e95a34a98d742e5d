#pragma once

#include <cstddef>

#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/passes/pass_memory.h"
#include "solver/multigrid/passes/plane_ring.h"
#include "solver/multigrid/passes/varying_row.h"
#include "spmv/grid/grid_box.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// As Interpolation, with weights that vary from point to point: along z at every fourth point,
/// along y at every second, along x at the points themselves.
template <class Value>
class VaryingInterpolation {
 public:
  VaryingInterpolation(const GridLevel& fine, const LevelCouplings<Value>& couplings,
                       const spmv::GridBox& rows, const GridArray<Value>& e,
                       Allotment<Value>& allotment)
      : fine_(fine), couplings_(couplings), e_(e) {
    begin_ = fine.is_coarsened[0] ? rows.begin[0] / 2 - 1 : rows.begin[0];
    end_ = fine.is_coarsened[0] ? rows.end[0] / 2 + 1 : rows.end[0];
    combined_ =
        allotment.take(static_cast<std::size_t>(PlaneRing<Value>::row_stride(rows.size(0)))) + 16 -
        begin_;
  }
  static std::size_t element_count(const spmv::GridBox& rows) {
    return static_cast<std::size_t>(PlaneRing<Value>::row_stride(rows.size(0)));
  }

  /// out = x + interpolated row (y, z).
  [[gnu::always_inline]] void add_row_to(spmv::GlobalIndex y, spmv::GlobalIndex z, RowRange range,
                                         const Value* x, Value* out) {
    const Value* const e = combine(y, z);
    if (fine_.is_coarsened[0])
      add_varying_row(range, couplings_.weights[0].row(y, z), e, x, out);
    else
      add_row(range, e, x, out);
  }

 private:
  /// The row of coarse points in x at the fine row (y, z).
  [[gnu::always_inline]] const Value* combine(spmv::GlobalIndex y, spmv::GlobalIndex z) {
    const bool is_between_y = fine_.is_coarsened[1] && y % 2 == 0;
    const bool is_between_z = fine_.is_coarsened[2] && z % 2 == 0;
    const spmv::GlobalIndex k = fine_.is_coarsened[1] ? y / 2 : y;
    const spmv::GlobalIndex m = fine_.is_coarsened[2] ? z / 2 : z;
    const Value* const here = e_.row(k, m);
    if (!is_between_y && !is_between_z) return here;
    if (!is_between_y) {
      const Value* const t = couplings_.weights[2].row(k, m);
      const Value* const behind = e_.row(k, m - 1);
#pragma omp simd
      for (std::ptrdiff_t i = begin_; i < end_; ++i)
        combined_[i] = here[i] + t[i] * (behind[i] - here[i]);
      return combined_;
    }
    const Value* const t = couplings_.weights[1].row(k, z);
    const Value* const below = e_.row(k - 1, m);
    if (!is_between_z) {
#pragma omp simd
      for (std::ptrdiff_t i = begin_; i < end_; ++i)
        combined_[i] = here[i] + t[i] * (below[i] - here[i]);
      return combined_;
    }
    const Value* const t_here = couplings_.weights[2].row(k, m);
    const Value* const t_below = couplings_.weights[2].row(k - 1, m);
    const Value* const behind = e_.row(k, m - 1);
    const Value* const below_behind = e_.row(k - 1, m - 1);
#pragma omp simd
    for (std::ptrdiff_t i = begin_; i < end_; ++i) {
      const Value a = here[i] + t_here[i] * (behind[i] - here[i]);
      const Value b = below[i] + t_below[i] * (below_behind[i] - below[i]);
      combined_[i] = a + t[i] * (b - a);
    }
    return combined_;
  }

  const GridLevel& fine_;
  const LevelCouplings<Value>& couplings_;
  const GridArray<Value>& e_;
  std::ptrdiff_t begin_ = 0;
  std::ptrdiff_t end_ = 0;
  Value* combined_ = nullptr;
};

}  // namespace weft::solver
