#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "solver/multigrid/grids/chebyshev.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/passes/row_kernels.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// The first two smoothing steps from zero as one: x₁ = k·f is pointwise, so that x₂ is a sum of f
/// at a point and its neighbours. It spares the planes of x₁, a fifth of what a pass moves between
/// the caches of first and second level.
template <class Value>
struct FirstStepsRow {
  FirstStepsRow(const GridLevel& level, const SmootherStep& first, const SmootherStep& second,
                spmv::GlobalIndex y, spmv::GlobalIndex z) {
    const spmv::GlobalIndex last_x = level.directions[0].size - 1;
    const auto before = [&](std::size_t d, spmv::GlobalIndex i) {
      return level.has_corners ? 1 : level.directions.at(d).before(i);
    };
    const auto after = [&](std::size_t d) {
      return level.has_corners ? 1 : level.directions.at(d).coupling;
    };
    const auto k = [&](spmv::GlobalIndex x, spmv::GlobalIndex row_y, spmv::GlobalIndex row_z) {
      return first.factor / level.diagonal(x, row_y, row_z);
    };
    const auto weights = [&](spmv::GlobalIndex x) {
      const double by_residual = second.factor / level.diagonal(x, y, z);
      const auto weight = [&](double coupling, double of_neighbour) {
        return static_cast<Value>(by_residual * coupling * of_neighbour);
      };
      Weights w;
      w.here = static_cast<Value>((1 + second.momentum - second.factor) * k(x, y, z) + by_residual);
      w.left = weight(before(0, x), k(x - 1, y, z));
      w.right = weight(after(0), k(x + 1, y, z));
      w.below = weight(before(1, y), k(x, y - 1, z));
      w.above = weight(after(1), k(x, y + 1, z));
      w.behind = weight(before(2, z), k(x, y, z - 1));
      w.ahead = weight(after(2), k(x, y, z + 1));
      return w;
    };
    inner = weights(last_x + 2);
    before_last = weights(last_x - 1);
    last = weights(last_x);
    if (level.has_corners)
      kind = RowKind::corners;
    else if (inner.below == inner.left && inner.above == inner.left && inner.behind == inner.left &&
             inner.ahead == inner.left)
      kind = RowKind::uniform;
  }

  /// Of f at a point and its neighbours.
  struct Weights {
    Value here = 0;
    Value left = 0;
    Value right = 0;
    Value below = 0;
    Value above = 0;
    Value behind = 0;
    Value ahead = 0;
    [[gnu::always_inline]] Value apply(const RowNeighbours<Value>& f, std::ptrdiff_t i) const {
      return here * f.here[i] +
             ((left * f.here[i - 1] + right * f.here[i + 1]) +
              (below * f.below[i] + above * f.above[i])) +
             (behind * f.behind[i] + ahead * f.ahead[i]);
    }
  };
  RowKind kind = RowKind::weighted;
  Weights inner;
  Weights before_last;  // in x
  Weights last;
};

/// x after the first two steps from zero. `last_x`: of the grid.
template <class Simd, RowKind kind, class Value>
[[gnu::always_inline]] inline void first_steps_row(const FirstStepsRow<Value>& row, RowRange range,
                                                   std::ptrdiff_t last_x,
                                                   const RowNeighbours<Value>& f, Value* out) {
  StencilRow<Value> sums;  // neighbours by weights
  sums.x = row.inner.left;
  sums.below = row.inner.below;
  sums.above = row.inner.above;
  sums.behind = row.inner.behind;
  sums.ahead = row.inner.ahead;
  for_points<Simd, Value>(range,
                          [&]<class Values>(std::ptrdiff_t i) __attribute__((always_inline)) {
                            Values sum = sums.template neighbours<kind, Values>(f, i);
                            if constexpr (kind != RowKind::weighted) sum = sum * row.inner.left;
                            store(out + i, row.inner.here * load<Values>(f.here + i) + sum);
                          });
  if (kind == RowKind::corners) return;  // zeros follow the last point
  if (range.end >= last_x && range.begin < last_x)
    out[last_x - 1] = row.before_last.apply(f, last_x - 1);
  if (range.last >= 0) out[last_x] = row.last.apply(f, last_x);
}

/// The rows of a grid: all but the last two of y and of z are alike.
template <class Value>
class FirstSteps {
 public:
  FirstSteps(const GridLevel& level, const SmootherStep& first, const SmootherStep& second)
      : last_y_(level.directions[1].size - 1), last_z_(level.directions[2].size - 1) {
    for (const spmv::GlobalIndex y : {0, 1, 2})
      for (const spmv::GlobalIndex z : {0, 1, 2})
        rows_.emplace_back(level, first, second, last_y_ - y, last_z_ - z);
  }

  [[gnu::always_inline]] const FirstStepsRow<Value>& row(spmv::GlobalIndex y,
                                                         spmv::GlobalIndex z) const {
    return rows_[static_cast<std::size_t>(3 * std::min<spmv::GlobalIndex>(last_y_ - y, 2) +
                                          std::min<spmv::GlobalIndex>(last_z_ - z, 2))];
  }

 private:
  spmv::GlobalIndex last_y_;
  spmv::GlobalIndex last_z_;
  std::vector<FirstStepsRow<Value>> rows_;  // [3·rows to the last in y, at most 2, + the same in z]
};

}  // namespace weft::solver
