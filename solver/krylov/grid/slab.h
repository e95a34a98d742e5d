#pragma once

#include <vector>

#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// One thread's share of a rank's points: whole planes, which it goes through in one
/// pass while others do the same beside it. What others read next to it comes before that.
struct GridSlab {
  spmv::GridBox own;
  spmv::GridBox middle;  // no point next to another thread's, nor outside of the box `inner`
  std::vector<spmv::GridBox> edges;  // the others
};

/// The slabs of all threads. `inner`: the points of `own` that no other rank reads.
std::vector<GridSlab> cut_into_slabs(const spmv::GridBox& own, const spmv::GridBox& inner,
                                     int thread_count);

}  // namespace weft::solver
