#pragma once

#include <array>
#include <cstddef>

#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/passes/pass_memory.h"
#include "solver/multigrid/passes/plane_ring.h"
#include "solver/multigrid/passes/restriction.h"
#include "solver/multigrid/passes/varying_row.h"
#include "spmv/grid/grid_box.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// As Restriction, with weights that vary from point to point: the transpose of
/// VaryingInterpolation. A row is restricted along x as soon as it is there, because the weights in
/// y and z belong to the points that this leaves.
template <class Value>
class VaryingRestriction {
 public:
  VaryingRestriction(const GridLevel& fine, const LevelCouplings<Value>& couplings,
                     const spmv::GridBox& own, const spmv::GridBox& rows, GridArray<Value>& out,
                     Allotment<Value>& allotment)
      : fine_(fine),
        couplings_(couplings),
        own_(coarse_points(fine, own)),
        end_(rows.end[0]),
        range_(own_.begin[0], own_.end[0], own_.end[0]),
        out_(out) {
    const auto take = [&] {
      const std::ptrdiff_t stride = PlaneRing<Value>::row_stride(rows.size(0));
      return allotment.take(static_cast<std::size_t>(stride)) + 16;
    };
    row_ = take() - rows.begin[0];
    for (Value*& row : along_x_) row = take() - own_.begin[0];
    combined_ = take() - own_.begin[0];
  }
  static std::size_t element_count(const spmv::GridBox& rows) {
    return 5 * static_cast<std::size_t>(PlaneRing<Value>::row_stride(rows.size(0)));
  }

  /// Where the residual of row y goes.
  Value* row(spmv::GlobalIndex /*y*/) { return row_; }

  /// Before the rows of plane `z`.
  void begin_plane(spmv::GlobalIndex z) {
    z_ = z;
    target_count_ = 0;
    const auto add_target = [&](spmv::GlobalIndex coarse, Part part) {
      if (coarse >= own_.begin[2] && coarse < own_.end[2])
        targets_[target_count_++] = {coarse, part};
    };
    if (!fine_.is_coarsened[2]) {
      add_target(z, Part::all_of_it);
    } else if (z % 2 != 0) {
      add_target(z / 2, Part::own);
    } else {
      add_target(z / 2 - 1, Part::after);
      add_target(z / 2, Part::before);
    }
  }

  /// Uses the row y of the plane, after those below it.
  [[gnu::always_inline]] void use_row(spmv::GlobalIndex y) {
    if (target_count_ == 0) return;
    const spmv::GlobalIndex size = fine_.directions[1].size;
    const Value* const r = restrict_along_x(y);
    if (!fine_.is_coarsened[1]) {
      if (y >= own_.begin[1] && y < own_.end[1]) add_to_targets(y, r);
      return;
    }
    const bool is_above = y % 2 == 0;
    if (!is_above && y != size - 1) return;
    const spmv::GlobalIndex coarse = is_above ? y / 2 - 1 : y / 2;
    if (coarse < own_.begin[1] || coarse >= own_.end[1]) return;
    const Value* const below = along_x_[static_cast<std::size_t>(2 * coarse % 3)];
    const Value* const here = along_x_[static_cast<std::size_t>((2 * coarse + 1) % 3)];
    const Value* const t = couplings_.weights[1].row(coarse, z_);
    if (is_above) {
      const Value* const t_above = couplings_.weights[1].row(coarse + 1, z_);
#pragma omp simd
      for (std::ptrdiff_t j = range_.begin; j < range_.end; ++j)
        combined_[j] = here[j] + ((below[j] - t[j] * below[j]) + t_above[j] * r[j]);
    } else {
#pragma omp simd
      for (std::ptrdiff_t j = range_.begin; j < range_.end; ++j)
        combined_[j] = here[j] + (below[j] - t[j] * below[j]);
    }
    add_to_targets(coarse, combined_);
  }

 private:
  /// Which share of a plane a coarse one gets.
  enum class Part { all_of_it, own, before, after };
  struct Target {
    spmv::GlobalIndex z = 0;
    Part part = Part::own;
  };

  [[gnu::always_inline]] const Value* restrict_along_x(spmv::GlobalIndex y) {
    Value* const out = along_x_[static_cast<std::size_t>(y % 3)];
    if (fine_.is_coarsened[0]) {
      if (end_ == fine_.directions[0].size) row_[end_] = 0;
      restrict_varying_row(range_, couplings_.weights[0].row(y, z_), row_, out);
    } else {
#pragma omp simd
      for (std::ptrdiff_t i = range_.begin; i < range_.end; ++i) out[i] = row_[i];
    }
    return out;
  }

  /// `r`: restricted along x and y to row `y` of the coarse grid. The plane 2m is the first of
  /// those that make up the coarse plane m.
  [[gnu::always_inline]] void add_to_targets(spmv::GlobalIndex y, const Value* r) {
    for (std::size_t i = 0; i < target_count_; ++i) {
      Value* const out = out_.row(y, targets_[i].z);
      const Value* const t = fine_.is_coarsened[2] ? couplings_.weights[2].row(y, z_ / 2) : nullptr;
      switch (targets_[i].part) {
        // NOLINTNEXTLINE(bugprone-branch-clone): it does not see what omp simd is about.
        case Part::all_of_it:
#pragma omp simd
          for (std::ptrdiff_t j = range_.begin; j < range_.end; ++j) out[j] = r[j];
          break;
        case Part::own:
#pragma omp simd
          for (std::ptrdiff_t j = range_.begin; j < range_.end; ++j) out[j] += r[j];
          break;
        case Part::before:
#pragma omp simd
          for (std::ptrdiff_t j = range_.begin; j < range_.end; ++j) out[j] = r[j] - t[j] * r[j];
          break;
        case Part::after:
#pragma omp simd
          for (std::ptrdiff_t j = range_.begin; j < range_.end; ++j) out[j] += t[j] * r[j];
          break;
      }
    }
  }

  const GridLevel& fine_;
  const LevelCouplings<Value>& couplings_;
  spmv::GridBox own_;  // coarse points
  std::ptrdiff_t end_;  // of the residual's rows
  RowRange range_;  // of coarse points
  GridArray<Value>& out_;
  spmv::GlobalIndex z_ = 0;
  std::array<Target, 2> targets_{};
  std::size_t target_count_ = 0;
  Value* row_ = nullptr;
  std::array<Value*, 3> along_x_{};
  Value* combined_ = nullptr;
};

}  // namespace weft::solver
