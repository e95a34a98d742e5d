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

/// The coarse points among those of a fine box.
inline spmv::GridBox coarse_points(const GridLevel& fine, spmv::GridBox box) {
  for (std::size_t d = 0; d < 3; ++d)
    if (fine.is_coarsened[d]) {
      box.begin[d] /= 2;
      box.end[d] /= 2;
    }
  return box;
}

/// The residual of a level, row by row, restricted to the coarse one.
template <class Value>
class Restriction {
 public:
  Restriction(const GridLevel& fine, const GridLevel& coarse, const spmv::GridBox& own,
              const spmv::GridBox& rows, GridArray<Value>& out, Allotment<Value>& allotment,
              const Value* zeros)
      : fine_(fine),
        own_(coarse_points(fine, own)),
        rows_(rows),
        weights_x_(fine.directions[0]),
        weights_y_(fine.directions[1]),
        range_(own_.begin[0], own_.end[0], coarse.directions[0].size),
        out_(out),
        scale_(1 / coarse.scale),
        zeros_(zeros) {
    const std::ptrdiff_t stride = PlaneRing<Value>::row_stride(rows.size(0));
    for (Value*& r : r_) {
      r = allotment.take(static_cast<std::size_t>(stride)) + 16 - rows.begin[0];
    }
    combined_ = allotment.take(static_cast<std::size_t>(stride)) + 16 - rows.begin[0];
  }
  static std::size_t element_count(const spmv::GridBox& rows) {
    return 4 * static_cast<std::size_t>(PlaneRing<Value>::row_stride(rows.size(0)));
  }

  /// Where the residual of row y goes.
  Value* row(spmv::GlobalIndex y) { return r_[static_cast<std::size_t>(y % 3)]; }

  /// Before the rows of plane `z`.
  void begin_plane(spmv::GlobalIndex z) {
    const GridDirection& direction = fine_.directions[2];
    const auto is_own = [&](spmv::GlobalIndex coarse) {
      return coarse >= own_.begin[2] && coarse < own_.end[2];
    };
    target_count_ = 0;
    const auto add_target = [&](spmv::GlobalIndex coarse, double weight, bool adds) {
      if (is_own(coarse))
        targets_[target_count_++] = {coarse, static_cast<Value>(weight * scale_), adds};
    };
    if (!fine_.is_coarsened[2]) {
      add_target(z, 1, false);
    } else if (z % 2 != 0) {
      add_target(z / 2, direction.restriction(z / 2)[1], true);
    } else {
      if (z > 0) add_target(z / 2 - 1, direction.restriction(z / 2 - 1)[2], true);
      if (z / 2 < direction.size / 2) add_target(z / 2, direction.restriction(z / 2)[0], false);
    }
  }

  /// Uses the row y of the plane, after those below it.
  [[gnu::always_inline]] void use_row(spmv::GlobalIndex y) {
    if (target_count_ == 0) return;
    const spmv::GlobalIndex size = fine_.directions[1].size;
    if (rows_.end[0] == fine_.directions[0].size) row(y)[rows_.end[0]] = 0;
    if (!fine_.is_coarsened[1]) {
      if (y >= own_.begin[1] && y < own_.end[1]) restrict_row_to(y, row(y));
      return;
    }
    const bool is_above = y % 2 == 0;
    if (!is_above && y != size - 1) return;
    const spmv::GlobalIndex coarse = is_above ? y / 2 - 1 : y / 2;
    if (coarse < own_.begin[1] || coarse >= own_.end[1]) return;
    const Value* const rows[3] = {row(2 * coarse), row(2 * coarse + 1), is_above ? row(y) : zeros_};
    combine_rows(rows, coarse == size / 2 - 1 ? weights_y_.last : weights_y_.inner, rows_.begin[0],
                 rows_.end[0] + (rows_.end[0] == fine_.directions[0].size ? 1 : 0), combined_);
    restrict_row_to(coarse, combined_);
  }

 private:
  /// Part of a coarse plane's values.
  struct Target {
    spmv::GlobalIndex z = 0;
    Value weight = 0;
    bool adds = false;
  };

  /// `r`: restricted along y to row `y` of the coarse grid.
  [[gnu::always_inline]] void restrict_row_to(spmv::GlobalIndex y, const Value* r) {
    for (std::size_t i = 0; i < target_count_; ++i) {
      const Target& target = targets_[i];
      if (target.adds)
        along_x<true>(y, target.z, target.weight, r);
      else
        along_x<false>(y, target.z, target.weight, r);
    }
  }

  template <bool adds>
  [[gnu::always_inline]] void along_x(spmv::GlobalIndex y, spmv::GlobalIndex z, Value weight,
                                      const Value* r) {
    if (fine_.is_coarsened[0])
      restrict_row<adds>(weights_x_, range_, weight, r, out_.row(y, z));
    else
      copy_row<adds>(range_, weight, r, out_.row(y, z));
  }

  const GridLevel& fine_;
  spmv::GridBox own_;  // coarse points
  spmv::GridBox rows_;  // of the residual
  RestrictionWeights<Value> weights_x_;
  RestrictionWeights<Value> weights_y_;
  RowRange range_;
  GridArray<Value>& out_;
  double scale_;
  const Value* zeros_;
  std::array<Target, 2> targets_{};
  std::size_t target_count_ = 0;
  std::array<Value*, 3> r_{};
  Value* combined_ = nullptr;
};

}  // namespace weft::solver
