#include "solver/multigrid/sweepers/own_restriction.h"

#include <algorithm>

#include "spmv/grid/shares.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

GridBox OwnRestriction::points_of(const GridLevel& fine, const GridLevel& coarse,
                                  const GridBox& own) {
  GridBox points = grown(own, 1, fine.points());
  for (std::size_t d = 0; d < 3; ++d)
    if (fine.is_coarsened[d]) {
      // Coarse point j has the fine ones from 2j to 2j + 2.
      points.begin[d] = (std::max<GlobalIndex>(points.begin[d] - 1, 0)) / 2;
      points.end[d] = (points.end[d] - 1) / 2 + 1;
    }
  return intersection(points, coarse.points());
}

OwnRestriction::OwnRestriction(const spmv::GridStencil& stencil, const GridLevel& fine,
                               const GridLevel& coarse, const GridBox& own, int thread_count)
    : stencil_(stencil),
      fine_(fine),
      coarse_(coarse),
      own_(own),
      points_(points_of(fine, coarse, own)),
      inner_(points_) {
  const GridBox domain = fine.points();
  for (std::size_t d = 0; d < 3; ++d) {
    // Residuals from 2j to 2j + 2 need values from 2j - 1 to 2j + 3.
    const GlobalIndex before = fine.is_coarsened[d] ? (own.begin[d] + 2) / 2 : own.begin[d] + 1;
    const GlobalIndex after = fine.is_coarsened[d] ? (own.end[d] - 2) / 2 : own.end[d] - 1;
    if (own.begin[d] > domain.begin[d]) inner_.begin[d] = before;
    if (own.end[d] < domain.end[d]) inner_.end[d] = after;
    inner_.end[d] = std::max(inner_.end[d], inner_.begin[d]);
  }
  if (inner_.is_empty()) inner_ = {points_.begin, points_.begin};
  for (int thread = 0; thread < thread_count; ++thread) {
    std::vector<GridBox> boxes;
    GlobalIndex most = 0;
    GlobalIndex most_around = 0;
    for (const GridBox& box : spmv::shell(points_, inner_))
      for (const GridBox& mine : spmv::share_of_rows(box, thread, thread_count)) {
        if (mine.is_empty()) continue;
        boxes.push_back(mine);
        most = std::max(most, fine_box(mine).point_count());
        most_around = std::max(most_around, around_of(fine_box(mine)).point_count());
      }
    shell_.push_back(std::move(boxes));
    memories_.push_back({.residual = std::vector<double>(static_cast<std::size_t>(most)),
                         .values = std::vector<double>(static_cast<std::size_t>(most_around))});
  }
}

OwnRestriction::Weights OwnRestriction::weights(std::size_t direction, GlobalIndex coarse) const {
  if (!fine_.is_coarsened[direction]) return {coarse, 1, {1, 0, 0}};
  const GridDirection& fine = fine_.directions[direction];
  const std::size_t count = 2 * coarse + 2 < fine.size ? 3 : 2;
  return {2 * coarse, count, fine.restriction(coarse)};
}

/// The fine points whose residuals are restricted to `coarse`.
GridBox OwnRestriction::fine_box(const GridBox& coarse) const {
  GridBox box = coarse;
  for (std::size_t d = 0; d < 3; ++d)
    if (fine_.is_coarsened[d]) {
      box.begin[d] = 2 * coarse.begin[d];
      box.end[d] = std::min(2 * coarse.end[d] + 1, fine_.directions[d].size);
    }
  return box;
}

/// `box` and one point around it, which need not be in the grid.
GridBox OwnRestriction::around_of(GridBox box) {
  for (std::size_t d = 0; d < 3; ++d) {
    --box.begin[d];
    ++box.end[d];
  }
  return box;
}

std::size_t OwnRestriction::place(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
  return static_cast<std::size_t>(
      x - points_.begin[0] +
      points_.size(0) * (y - points_.begin[1] + points_.size(1) * (z - points_.begin[2])));
}

/// x at the points of `box`, 0 outside of the rank's own points.
void OwnRestriction::copy_values(const GridBox& box, const Values& values,
                                 std::vector<double>& copy) const {
  const GlobalIndex begin = std::max(box.begin[0], own_.begin[0]);
  const GlobalIndex end = std::min(box.end[0], own_.end[0]);
  double* row = copy.data() - box.begin[0];
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y, row += box.size(0)) {
      std::fill(row + box.begin[0], row + box.end[0], 0.0);
      if (z < own_.begin[2] || z >= own_.end[2] || y < own_.begin[1] || y >= own_.end[1]) continue;
      const double* const x = values.x + values.layout.index(begin, y, z) - begin;
      const float* const correction = values.correction.row(y, z);
#pragma omp simd
      for (GlobalIndex i = begin; i < end; ++i) row[i] = x[i] + static_cast<double>(correction[i]);
    }
}

/// b - A·x in row (y, z) of `box`. `x`: of the row, the next of its row, plane.
void OwnRestriction::find_residual(const GridBox& box, GlobalIndex y, GlobalIndex z,
                                   const Values& values, const double* x, std::ptrdiff_t row,
                                   std::ptrdiff_t plane, double* out) const {
  const GlobalIndex first = box.begin[0];
  const GlobalIndex last = box.end[0];
  if (stencil_.has_corners) {
    for (GlobalIndex i = first; i < last; ++i) {
      double sum = -x[i];
      for (std::ptrdiff_t k = -1; k <= 1; ++k)
        for (std::ptrdiff_t j = -1; j <= 1; ++j)
          sum += x[k * plane + j * row + i - 1] + x[k * plane + j * row + i] +
                 x[k * plane + j * row + i + 1];
      out[i] = sum;
    }
  } else {
    const std::array<double, 3> weights = stencil_.weights;
#pragma omp simd
    for (GlobalIndex i = first; i < last; ++i)
      out[i] = weights[0] * (x[i - 1] + x[i + 1]) + weights[1] * (x[i - row] + x[i + row]) +
               weights[2] * (x[i - plane] + x[i + plane]);
  }
  if (z < own_.begin[2] || z >= own_.end[2] || y < own_.begin[1] || y >= own_.end[1]) return;
  const double centre = stencil_.centre;
  const GlobalIndex begin = std::max(first, own_.begin[0]);
  const GlobalIndex end = std::min(last, own_.end[0]);
  const double* const b = values.b + values.layout.index(begin, y, z) - begin;
#pragma omp simd
  for (GlobalIndex i = begin; i < end; ++i) out[i] = (b[i] - centre * x[i]) + out[i];
}

void OwnRestriction::restrict_box(const GridBox& box, const Values& values, Memory& memory,
                                  std::span<double> share) const {
  const GridBox fine = fine_box(box);
  const GridBox around = around_of(fine);
  std::vector<double>& residual = memory.residual;
  copy_values(around, values, memory.values);
  const auto row_stride = static_cast<std::ptrdiff_t>(around.size(0));
  const auto plane_stride = static_cast<std::ptrdiff_t>(around.size(0) * around.size(1));
  std::size_t next = 0;
  for (GlobalIndex z = fine.begin[2]; z < fine.end[2]; ++z)
    for (GlobalIndex y = fine.begin[1]; y < fine.end[1]; ++y) {
      const double* const x = memory.values.data() + (z - around.begin[2]) * plane_stride +
                              (y - around.begin[1]) * row_stride - around.begin[0];
      find_residual(fine, y, z, values, x, row_stride, plane_stride,
                    residual.data() + next - fine.begin[0]);
      next += static_cast<std::size_t>(fine.size(0));
    }
  const auto row_of = [&](GlobalIndex y, GlobalIndex z) {
    return static_cast<std::size_t>(fine.size(0) *
                                    (y - fine.begin[1] + fine.size(1) * (z - fine.begin[2])));
  };
  const double scale = 1 / (fine_.scale * coarse_.scale);
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z) {
    const Weights in_z = weights(2, z);
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      const Weights in_y = weights(1, y);
      const auto row_size = static_cast<std::size_t>(fine.size(0));
      double* const combined = memory.values.data();
      std::fill_n(combined, row_size, 0.0);
      for (std::size_t k = 0; k < in_z.count; ++k)
        for (std::size_t j = 0; j < in_y.count; ++j) {
          const double weight = in_z.values[k] * in_y.values[j];
          const double* const row =
              residual.data() + row_of(in_y.first + static_cast<GlobalIndex>(j),
                                       in_z.first + static_cast<GlobalIndex>(k));
#pragma omp simd
          for (std::size_t i = 0; i < row_size; ++i) combined[i] += weight * row[i];
        }
      for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) {
        const Weights in_x = weights(0, x);
        const auto first = static_cast<std::size_t>(in_x.first - fine.begin[0]);
        double sum = 0;
        for (std::size_t i = 0; i < in_x.count; ++i) sum += in_x.values[i] * combined[first + i];
        share[place(x, y, z)] = scale * sum;
      }
    }
  }
}

void OwnRestriction::run(const TeamThread& thread, const Values& values,
                         const GridArray<float>& inner, std::span<double> share) {
  const auto index = static_cast<std::size_t>(thread.index);
  for (const GridBox& box : shell_[index]) restrict_box(box, values, memories_[index], share);
  for (const GridBox& box : spmv::share_of_rows(inner_, thread.index, thread.count))
    for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
      for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
        for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x)
          share[place(x, y, z)] = static_cast<double>(inner.row(y, z)[x]);
}

}  // namespace weft::solver
