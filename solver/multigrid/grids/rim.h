#pragma once

#include <cstddef>
#include <vector>

#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// Part of the points around a rank's box at which it computes residuals that are its neighbours'
/// as well: what a residual there is made from. The rank's own points stay in the arrays of the
/// caller, so that nothing is kept twice but what is near the boundary.
///
///     own points o, two parts        1 1 1 1 1 1      part 1: whole rows
///     of a rim of depth 1            2 o o o o 2      2, 2: the ends of rows
///                                    2 o o o o 2
struct RimPart {
  explicit RimPart(const spmv::GridBox& box) : points(box), layout(box, 1, 1) {
    b.resize(layout.element_count());
    x.resize(layout.element_count());
  }

  spmv::GridBox points;
  spmv::GridLayout layout;  // with one point around them, whose x is needed
  std::vector<double> b;
  std::vector<double> x;
};

/// The parts of a rim of `depth` points around `own`, as far as `grid` goes.
std::vector<RimPart> make_rim(const spmv::GridBox& own, int depth, const spmv::GridBox& grid);

}  // namespace weft::solver
