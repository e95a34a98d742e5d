#pragma once

#include <array>
#include <cstddef>

#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/passes/pass_memory.h"
#include "solver/multigrid/passes/plane_ring.h"
#include "solver/multigrid/passes/row_kernels.h"
#include "spmv/grid/grid_box.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// Rows of the coarse solution, interpolated along y and z.
template <class Value>
class Interpolation {
 public:
  Interpolation(const GridLevel& fine, const spmv::GridBox& rows, const GridArray<Value>& e,
                Allotment<Value>& allotment)
      : fine_(fine),
        e_(e),
        last_weight_(
            static_cast<Value>(fine.directions[0].interpolation(fine.directions[0].size - 1)[0])) {
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
    const Value* const e = combine(terms(1, y), terms(2, z));
    if (fine_.is_coarsened[0])
      add_interpolated_row(range, last_weight_, e, x, out);
    else
      add_row(range, e, x, out);
  }

 private:
  struct Terms {
    spmv::GlobalIndex first = 0;
    int count = 1;
    std::array<Value, 2> weights{1, 0};
  };
  Terms terms(std::size_t direction, spmv::GlobalIndex i) const {
    if (!fine_.is_coarsened[direction]) return {i, 1, {1, 0}};
    if (i % 2 != 0) return {i / 2, 1, {1, 0}};
    const auto weights = fine_.directions[direction].interpolation(i);
    return {i / 2 - 1, 2, {static_cast<Value>(weights[0]), static_cast<Value>(weights[1])}};
  }
  [[gnu::always_inline]] const Value* combine(const Terms& y, const Terms& z) {
    if (y.count == 1 && z.count == 1) return e_.row(y.first, z.first);
    const Value* const a = e_.row(y.first, z.first);
    if (y.count == 2 && z.count == 2) {
      const Value* const b = e_.row(y.first + 1, z.first);
      const Value* const c = e_.row(y.first, z.first + 1);
      const Value* const d = e_.row(y.first + 1, z.first + 1);
#pragma omp simd
      for (std::ptrdiff_t i = begin_; i < end_; ++i)
        combined_[i] = z.weights[0] * (y.weights[0] * a[i] + y.weights[1] * b[i]) +
                       z.weights[1] * (y.weights[0] * c[i] + y.weights[1] * d[i]);
      return combined_;
    }
    const auto& weights = y.count == 2 ? y.weights : z.weights;
    const Value* const b =
        y.count == 2 ? e_.row(y.first + 1, z.first) : e_.row(y.first, z.first + 1);
#pragma omp simd
    for (std::ptrdiff_t i = begin_; i < end_; ++i)
      combined_[i] = weights[0] * a[i] + weights[1] * b[i];
    return combined_;
  }

  const GridLevel& fine_;
  const GridArray<Value>& e_;
  Value last_weight_;
  std::ptrdiff_t begin_ = 0;
  std::ptrdiff_t end_ = 0;
  Value* combined_ = nullptr;
};

}  // namespace weft::solver
