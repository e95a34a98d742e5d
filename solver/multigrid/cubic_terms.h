#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "solver/multigrid/grids/grid_level.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// The coarse points from which a fine point of one direction gets its value by a polynomial, and
/// their weights.
///
///     fine     0 1 2 3 4 5 6 7 8        point 4 from coarse 0, 1, 2 and 3, of third order
///     coarse     0   1   2   3          points 1, 3, 5 and 7 are coarse points
///
/// Points beside a boundary get theirs from the four coarse points next to it, so that no value on
/// the boundary need be known: what a right-hand side has of it is not zero. From three of them
/// interpolation has errors there that one cycle does not remove: see docs/notes/multigrid.md.
template <class Value>
struct CubicTerms {
  /// Coarse points that a point may need beyond those around it.
  static constexpr int reach = 4;

  spmv::GlobalIndex first = 0;
  int count = 1;
  std::array<Value, 4> weights{1, 0, 0, 0};
  bool is_inner = false;  // between two coarse points on each side

  /// The terms of fine point `i`. `is_coarsened`: else fine and coarse points are the same.
  static CubicTerms of(const GridDirection& fine, bool is_coarsened, spmv::GlobalIndex i) {
    if (!is_coarsened) return {.first = i};
    if (i % 2 != 0) return {.first = i / 2};
    const spmv::GlobalIndex count = fine.size / 2;
    CubicTerms terms;
    terms.is_inner = i / 2 >= 2 && i / 2 + 2 <= count;
    terms.count = static_cast<int>(std::min<spmv::GlobalIndex>(count, 4));
    terms.first = i / 2 - 2;
    if (terms.is_inner) {
      terms.weights = {-0.0625, 0.5625, 0.5625, -0.0625};
      return terms;
    }
    terms.first = std::clamp<spmv::GlobalIndex>(terms.first, 0, count - terms.count);
    const auto place = [&](int k) { return static_cast<double>(2 * (terms.first + k) + 1); };
    for (int k = 0; k < terms.count; ++k) {
      double weight = 1;
      for (int other = 0; other < terms.count; ++other)
        if (other != k)
          weight *= (static_cast<double>(i) - place(other)) / (place(k) - place(other));
      terms.weights[static_cast<std::size_t>(k)] = static_cast<Value>(weight);
    }
    return terms;
  }
};

}  // namespace weft::solver
