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
    for (const GridBox& box : spmv::shell(points_, inner_))
      for (const GridBox& mine : spmv::share_of_rows(box, thread, thread_count)) {
        if (mine.is_empty()) continue;
        boxes.push_back(mine);
        most = std::max(most, fine_box(mine).point_count());
      }
    shell_.push_back(std::move(boxes));
    residuals_.emplace_back(static_cast<std::size_t>(most));
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

std::size_t OwnRestriction::place(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
  return static_cast<std::size_t>(
      x - points_.begin[0] +
      points_.size(0) * (y - points_.begin[1] + points_.size(1) * (z - points_.begin[2])));
}

double OwnRestriction::residual_at(const Values& values, GlobalIndex x, GlobalIndex y,
                                   GlobalIndex z) const {
  const auto is_own = [&](GlobalIndex i, GlobalIndex j, GlobalIndex k) {
    return i >= own_.begin[0] && i < own_.end[0] && j >= own_.begin[1] && j < own_.end[1] &&
           k >= own_.begin[2] && k < own_.end[2];
  };
  const auto value = [&](GlobalIndex i, GlobalIndex j, GlobalIndex k) {
    return is_own(i, j, k) ? values.x[values.layout.index(i, j, k)] +
                                 static_cast<double>(values.correction.row(j, k)[i])
                           : 0;
  };
  const bool is_inside = x > own_.begin[0] && x + 1 < own_.end[0] && y > own_.begin[1] &&
                         y + 1 < own_.end[1] && z > own_.begin[2] && z + 1 < own_.end[2];
  if (is_inside && !stencil_.has_corners) {
    // Most points, and without the question whose a neighbour is.
    const double* const u = values.x + values.layout.index(x, y, z);
    const std::ptrdiff_t row = values.layout.row_stride();
    const std::ptrdiff_t plane = values.layout.plane_stride();
    const auto at = [&](std::ptrdiff_t offset, GlobalIndex i, GlobalIndex j, GlobalIndex k) {
      return u[offset] + static_cast<double>(values.correction.row(j, k)[i]);
    };
    const double product =
        stencil_.centre * at(0, x, y, z) -
        (stencil_.weights[0] * (at(-1, x - 1, y, z) + at(1, x + 1, y, z)) +
         stencil_.weights[1] * (at(-row, x, y - 1, z) + at(row, x, y + 1, z)) +
         stencil_.weights[2] * (at(-plane, x, y, z - 1) + at(plane, x, y, z + 1)));
    return values.b[values.layout.index(x, y, z)] - product;
  }
  double sum = 0;
  if (stencil_.has_corners) {
    for (GlobalIndex k = z - 1; k <= z + 1; ++k)
      for (GlobalIndex j = y - 1; j <= y + 1; ++j)
        for (GlobalIndex i = x - 1; i <= x + 1; ++i) sum += value(i, j, k);
    sum -= value(x, y, z);
  } else {
    sum = stencil_.weights[0] * (value(x - 1, y, z) + value(x + 1, y, z)) +
          stencil_.weights[1] * (value(x, y - 1, z) + value(x, y + 1, z)) +
          stencil_.weights[2] * (value(x, y, z - 1) + value(x, y, z + 1));
  }
  if (!is_own(x, y, z)) return sum;
  return values.b[values.layout.index(x, y, z)] - stencil_.centre * value(x, y, z) + sum;
}

void OwnRestriction::restrict_box(const GridBox& box, const Values& values,
                                  std::vector<double>& residual, std::span<double> share) const {
  const GridBox fine = fine_box(box);
  std::size_t next = 0;
  for (GlobalIndex z = fine.begin[2]; z < fine.end[2]; ++z)
    for (GlobalIndex y = fine.begin[1]; y < fine.end[1]; ++y)
      for (GlobalIndex x = fine.begin[0]; x < fine.end[0]; ++x)
        residual[next++] = residual_at(values, x, y, z);
  const auto row_of = [&](GlobalIndex y, GlobalIndex z) {
    return static_cast<std::size_t>(fine.size(0) *
                                    (y - fine.begin[1] + fine.size(1) * (z - fine.begin[2])));
  };
  const double scale = 1 / (fine_.scale * coarse_.scale);
  for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z) {
    const Weights in_z = weights(2, z);
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      const Weights in_y = weights(1, y);
      for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) {
        const Weights in_x = weights(0, x);
        double sum = 0;
        for (std::size_t k = 0; k < in_z.count; ++k)
          for (std::size_t j = 0; j < in_y.count; ++j) {
            const std::size_t row = row_of(in_y.first + static_cast<GlobalIndex>(j),
                                           in_z.first + static_cast<GlobalIndex>(k)) +
                                    static_cast<std::size_t>(in_x.first - fine.begin[0]);
            for (std::size_t i = 0; i < in_x.count; ++i)
              sum += in_z.values[k] * in_y.values[j] * in_x.values[i] * residual[row + i];
          }
        share[place(x, y, z)] = scale * sum;
      }
    }
  }
}

void OwnRestriction::run(const TeamThread& thread, const Values& values, const GridArray& inner,
                         std::span<double> share) {
  const auto index = static_cast<std::size_t>(thread.index);
  for (const GridBox& box : shell_[index]) restrict_box(box, values, residuals_[index], share);
  for (const GridBox& box : spmv::share_of_rows(inner_, thread.index, thread.count))
    for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z)
      for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y)
        for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x)
          share[place(x, y, z)] = static_cast<double>(inner.row(y, z)[x]);
}

}  // namespace weft::solver
