#pragma once

#include <algorithm>
#include <cstddef>

#include "perfmodel/fetch.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// How far ahead of a row a kernel of a grid fetches, which goes plane by plane through a strip.
///
/// A strip leaves a plane after some 60 rows. What follows in memory is then not what comes next,
/// and the first rows of each plane would come late: alone in a loop, products and sweeps took 1.05
/// to 1.15 times as long, the second pass of CG 1.05 to 1.18 times; whole solves 0.98 to 1.05
/// times.
class RowsAhead {
 public:
  /// Rows [begin, end), of `row_size` points, are processed in each plane; none of either in a box
  /// without points.
  RowsAhead(const GridLayout& layout, GlobalIndex row_size, GlobalIndex begin, GlobalIndex end) {
    const GlobalIndex points = std::max<GlobalIndex>(1, row_size);
    const GlobalIndex rows = (perfmodel::fetch_lead + points - 1) / points;
    last_ = end - rows;
    in_plane_ = rows * layout.row_stride();
    in_next_plane_ = in_plane_ + layout.plane_stride() - (end - begin) * layout.row_stride();
  }

  /// Distance in elements from row y to the row processed at least `fetch_lead` elements later.
  [[gnu::always_inline]] std::ptrdiff_t from(GlobalIndex y) const {
    return y < last_ ? in_plane_ : in_next_plane_;
  }

 private:
  GlobalIndex last_;
  std::ptrdiff_t in_plane_;
  std::ptrdiff_t in_next_plane_;
};

}  // namespace weft::spmv
