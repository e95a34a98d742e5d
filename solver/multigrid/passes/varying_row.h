#pragma once

#include <cstddef>

#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/passes/row_kernels.h"
#include "spmv/rows/index.h"

/// What multigrid does with a row of points along x whose couplings vary; as row_kernels.h.
namespace weft::solver {

/// Couplings of the points of a row, each array indexed by x. x[i] is that of the points i - 1 and
/// i. Beyond the boundary a coupling may be anything finite, as the values there are 0.
template <class Value>
struct VaryingRow {
  VaryingRow(const LevelCouplings<Value>& couplings, spmv::GlobalIndex y, spmv::GlobalIndex z)
      : x(couplings.before[0].row(y, z)),
        below(couplings.before[1].row(y, z)),
        above(couplings.before[1].row(y + 1, z)),
        behind(couplings.before[2].row(y, z)),
        ahead(couplings.before[2].row(y, z + 1)),
        inverse(couplings.inverse_diagonal.row(y, z)) {}

  /// Sum of the neighbours of the points from i on, by couplings.
  template <class Values>
  [[gnu::always_inline]] Values neighbours(const RowNeighbours<Value>& u, std::ptrdiff_t i) const {
    const auto at = [i](const Value* values)
                        __attribute__((always_inline)) { return load<Values>(values + i); };
    return ((at(x) * at(u.here - 1) + at(x + 1) * at(u.here + 1)) +
            (at(below) * at(u.below) + at(above) * at(u.above))) +
           (at(behind) * at(u.behind) + at(ahead) * at(u.ahead));
  }

  const Value* x;
  const Value* below;
  const Value* above;
  const Value* behind;
  const Value* ahead;
  const Value* inverse;  // of the diagonal
};

/// x = factor·D⁻¹·f. Reads 8 bytes a point, writes 4.
template <class Simd, class Value>
[[gnu::always_inline]] inline void start_row(const VaryingRow<Value>& row, RowRange range,
                                             Value factor, const Value* f, Value* out) {
  for_points<Simd, Value>(
      range, [&]<class Values>(std::ptrdiff_t i) __attribute__((always_inline)) {
        store(out + i, (factor * load<Values>(row.inverse + i)) * load<Values>(f + i));
      });
}

/// out = x + momentum·(x - before) + factor·D⁻¹·(f - A·x). Reads, from caches but for the first
/// stage of a pass, 16 bytes of couplings a point.
template <class Simd, Before has, class Value>
[[gnu::always_inline]] inline void smooth_row(const VaryingRow<Value>& row, RowRange range,
                                              Value momentum, Value factor, const Value* f,
                                              const RowNeighbours<Value>& x, const Value* before,
                                              Value* out) {
  const Value a = has == Before::same ? 0 : momentum;
  const Value own = 1 + a - factor;
  for_points<Simd, Value>(
      range, [&]<class Values>(std::ptrdiff_t i) __attribute__((always_inline)) {
        Values sum = row.template neighbours<Values>(x, i);
        sum = own * load<Values>(x.here + i) +
              (factor * load<Values>(row.inverse + i)) * (load<Values>(f + i) + sum);
        if constexpr (has == Before::row) sum -= a * load<Values>(before + i);
        store(out + i, sum);
      });
}

/// out = f - A·x. The division spares an array for the diagonal: it costs less than 4 bytes.
template <class Simd, class Value>
[[gnu::always_inline]] inline void residual_row(const VaryingRow<Value>& row, RowRange range,
                                                const Value* f, const RowNeighbours<Value>& x,
                                                Value* out) {
  for_points<Simd, Value>(
      range, [&]<class Values>(std::ptrdiff_t i) __attribute__((always_inline)) {
        Values sum = row.template neighbours<Values>(x, i);
        store(out + i, (load<Values>(f + i) + sum) -
                           load<Values>(x.here + i) / load<Values>(row.inverse + i));
      });
}

/// out_j = r_2j+1 + (1 - t_j)·r_2j + t_j+1·r_2j+2. `range`: of coarse points.
template <class Value>
[[gnu::always_inline]] inline void restrict_varying_row(RowRange range, const Value* t,
                                                        const Value* r, Value* out) {
#pragma omp simd
  for (std::ptrdiff_t j = range.begin; j < range.end; ++j)
    out[j] = r[2 * j + 1] + ((r[2 * j] - t[j] * r[2 * j]) + t[j + 1] * r[2 * j + 2]);
}

/// out = x + interpolation of the coarse row `e` along x with the weights `t`.
template <class Value>
[[gnu::always_inline]] inline void add_varying_row(RowRange range, const Value* t, const Value* e,
                                                   const Value* x, Value* out) {
  const auto between = [&](std::ptrdiff_t m) __attribute__((always_inline)) {
    return e[m] + t[m] * (e[m - 1] - e[m]);
  };
  std::ptrdiff_t begin = range.begin;
  if (begin % 2 != 0 && begin < range.end) {
    out[begin] = x[begin] + e[begin / 2];
    ++begin;
  }
  const std::ptrdiff_t pairs_end = range.end / 2;
#pragma omp simd
  for (std::ptrdiff_t m = begin / 2; m < pairs_end; ++m) {
    out[2 * m] = x[2 * m] + between(m);
    out[2 * m + 1] = x[2 * m + 1] + e[m];
  }
  if (const std::ptrdiff_t i = range.end - 1; range.end % 2 != 0 && i >= begin)
    out[i] = x[i] + between(i / 2);
}

}  // namespace weft::solver
