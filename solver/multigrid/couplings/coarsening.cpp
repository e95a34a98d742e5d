#include "solver/multigrid/couplings/coarsening.h"

#include <algorithm>

#include "perfmodel/simd.h"
#include "solver/multigrid/couplings/coarsening_rows.h"

namespace weft::solver {

using spmv::GlobalIndex;
using spmv::GridBox;

namespace {

/// Elements in front of a row of weights.
constexpr std::ptrdiff_t front = 16;

/// Calls run.operator()<step>() with the elements from one point of a row to the next one.
template <class Run>
[[gnu::always_inline]] inline void with_step(std::size_t direction, const Run& run) {
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    if (direction == 0)
      run.template operator()<2>();
    else
      run.template operator()<1>();
  });
}

}  // namespace

GridBox weights_box(const GridBox& fine, std::size_t direction) {
  if (fine.is_empty()) return {};
  GridBox box = fine;
  box.begin[direction] = (box.begin[direction] + 1) / 2;
  box.end[direction] = (box.end[direction] + 1) / 2;
  return box;
}

GridBox coarse_points(const GridBox& fine, const GridBox& grid, std::size_t direction) {
  if (fine.is_empty()) return {};
  GridBox box = fine;
  for (std::size_t d = 0; d < 3; ++d) {
    const bool is_end = fine.end[d] == grid.end[d];
    if (d == direction) {
      box.begin[d] = (fine.begin[d] + 1) / 2;
      box.end[d] = is_end ? grid.end[d] / 2 : (fine.end[d] - 1) / 2;
    } else {
      if (fine.begin[d] > 0) ++box.begin[d];
      if (!is_end) --box.end[d];
    }
    if (box.end[d] <= box.begin[d]) return {};
  }
  return box;
}

template <class Value>
PlaneCoarsener<Value>::PlaneCoarsener(const GridBox& fine, const GridBox& grid,
                                      std::size_t direction,
                                      const InterpolationWeights<Value>& weights, PlaneSink& next)
    : fine_(fine),
      coarse_(coarse_points(fine, grid, direction)),
      grid_(grid),
      weights_box_(weights_box(fine, direction)),
      d_(direction),
      size_(grid.end[direction]),
      weights_(weights),
      next_(next),
      next_plane_(coarse_.begin[2]),
      planes_(direction == 2 ? 5 : 2),
      weights_stride_((front + fine.size(0) + 16) / 16 * 16) {
  for (CouplingPlane& plane : planes_) plane = CouplingPlane(fine);
  for (auto& values : plane_weights_)
    values = perfmodel::HugePageBuffer<Value>(
        static_cast<std::size_t>(weights_stride_ * weights_box_.size(1)));
}

template <class Value>
Value* PlaneCoarsener<Value>::weights_row(GlobalIndex y, GlobalIndex plane) {
  return plane_weights_[static_cast<std::size_t>(plane) % 2].data() +
         (front - weights_box_.begin[0] + (y - weights_box_.begin[1]) * weights_stride_);
}

template <class Value>
void PlaneCoarsener<Value>::take(GlobalIndex z) {
  if (d_ != 2) {
    if (z < fine_.end[2]) fill_weights(z);
    if (!coarse_.is_empty() && z == next_plane_ && z <= coarse_.end[2]) {
      make_plane(z);
      ++next_plane_;
    }
    return;
  }
  if (z % 2 == 1 && z / 2 >= weights_box_.begin[2]) fill_weights(z / 2);
  if (coarse_.is_empty()) return;
  while (next_plane_ < coarse_.end[2] && std::min(2 * next_plane_ + 3, fine_.end[2]) <= z)
    make_plane(next_plane_++);
  if (z == fine_.end[2]) make_plane(coarse_.end[2]);
}

template <class Value>
void PlaneCoarsener<Value>::fill_weights(GlobalIndex plane) {
  const GridBox& box = weights_box_;
  for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
    Value* const out = weights_row(y, plane);
    with_step(d_, [&]<std::ptrdiff_t step>() __attribute__((always_inline)) {
      weights_of_row<step>(fine_row(d_, box.begin[0], y, plane, 0),
                           fine_row(d_, box.begin[0], y, plane, 1), box.size(0),
                           out + box.begin[0]);
    });
    // A coupling with the boundary has the weight of its point at both ends.
    if (d_ != 0) {
      if (box.begin[0] == 0) out[-1] = out[0];
      if (box.end[0] == grid_.end[0]) out[box.end[0]] = out[box.end[0] - 1];
    }
    const GridBox& kept = weights_.box;
    if (y >= kept.begin[1] && y < kept.end[1] && plane >= kept.begin[2] && plane < kept.end[2])
      std::copy_n(out + kept.begin[0], kept.size(0), weights_.row(y, plane) + kept.begin[0]);
  }
}

template <class Value>
void PlaneCoarsener<Value>::make_plane(GlobalIndex z) {
  CouplingPlane& plane = next_.place(z);
  const bool is_end = z == coarse_.end[2];
  plane.has_excess = !is_end && provide_excess(z);
  for (GlobalIndex y = coarse_.begin[1]; y <= coarse_.end[1]; ++y)
    for (std::size_t k = 0; k < 3; ++k) {
      if ((is_end && k != 2) || (y == coarse_.end[1] && k != 1)) continue;
      double* const out = plane.before(k, y) + coarse_.begin[0];
      if (k == d_)
        fill_along(y, z, out);
      else
        fill_across(k, y, z, out);
    }
  if (plane.has_excess)
    for (GlobalIndex y = coarse_.begin[1]; y < coarse_.end[1]; ++y)
      fill_across(3, y, z, plane.excess(y) + coarse_.begin[0]);
  next_.take(z);
}

/// True if points of the coarse plane have excess; then all fine planes have its values.
template <class Value>
bool PlaneCoarsener<Value>::provide_excess(GlobalIndex z) {
  const std::ptrdiff_t count = d_ != 2 ? 1 : 2 * z + 2 < size_ ? 3 : 2;
  bool has_any = false;
  for (std::ptrdiff_t part = 0; part < count; ++part)
    has_any = fine_plane(z, part).has_excess || has_any;
  if (!has_any) return false;
  for (std::ptrdiff_t part = 0; part < count; ++part) {
    CouplingPlane& plane = fine_plane(z, part);
    if (plane.has_excess) continue;
    for (GlobalIndex y = fine_.begin[1]; y < fine_.end[1]; ++y)
      std::fill_n(plane.excess(y) + fine_.begin[0], fine_.size(0), 0.0);
    plane.has_excess = true;
  }
  return true;
}

template <class Value>
CouplingPlane& PlaneCoarsener<Value>::fine_plane(GlobalIndex z, std::ptrdiff_t part) {
  return place(d_ == 2 ? 2 * z + part : z);
}

template <class Value>
const double* PlaneCoarsener<Value>::fine_row(std::size_t k, GlobalIndex x, GlobalIndex y,
                                              GlobalIndex z, std::ptrdiff_t part) {
  const CouplingPlane& plane = fine_plane(z, part);
  const GlobalIndex fine_y = d_ == 1 ? 2 * y + part : y;
  const double* const row = k < 3 ? plane.before(k, fine_y) : plane.excess(fine_y);
  return row + (d_ == 0 ? 2 * x + part : x);
}

template <class Value>
void PlaneCoarsener<Value>::fill_along(GlobalIndex y, GlobalIndex z, double* out) {
  const GlobalIndex begin = coarse_.begin[0];
  const GlobalIndex count = coarse_.size(0) + (d_ == 0 ? 1 : 0);
  const double* const a = fine_row(d_, begin, y, z, 0);
  // Where 2j is beyond the last point, its coupling is with the boundary.
  GlobalIndex inside = 2 * (d_ == 1 ? y : z) < size_ ? count : 0;
  if (d_ == 0) inside = std::min(count, (size_ + 1) / 2 - begin);
  if (inside > 0)
    with_step(d_, [&]<std::ptrdiff_t step>() __attribute__((always_inline)) {
      series_of_row<step>(a, fine_row(d_, begin, y, z, 1), inside, out);
    });
  for (GlobalIndex x = inside; x < count; ++x) out[x] = a[x * (d_ == 0 ? 2 : 1)];
}

template <class Value>
void PlaneCoarsener<Value>::fill_across(std::size_t k, GlobalIndex y, GlobalIndex z, double* out) {
  // The weights at both ends of a coupling, those inside of the grid.
  const GlobalIndex low_y = k == 1 ? std::max<GlobalIndex>(y - 1, 0) : y;
  const GlobalIndex low_z = k == 2 ? std::max<GlobalIndex>(z - 1, 0) : z;
  const GlobalIndex high_y = k == 1 ? std::min(y, grid_.end[1] - 1) : y;
  const GlobalIndex high_z = k == 2 ? std::min(z, grid_.end[2] - 1) : z;
  const GlobalIndex begin = coarse_.begin[0];
  const std::ptrdiff_t low_x = k == 0 ? begin - 1 : begin;
  const EndWeights<Value> here{weights_row(low_y, low_z) + low_x,
                               weights_row(high_y, high_z) + begin};
  const auto after_row = [&](GlobalIndex at_y, GlobalIndex at_z) {
    return d_ == 0   ? weights_row(at_y, at_z) + 1
           : d_ == 1 ? weights_row(at_y + 1, at_z)
                     : weights_row(at_y, at_z + 1);
  };
  const EndWeights<Value> after{after_row(low_y, low_z) + low_x, after_row(high_y, high_z) + begin};
  const GlobalIndex count = coarse_.size(0) + (k == 0 ? 1 : 0);
  // The points that a fine one follows.
  GlobalIndex followed = 2 * (d_ == 1 ? y : z) + 2 < size_ ? count : 0;
  if (d_ == 0) followed = std::clamp<GlobalIndex>((size_ - 1) / 2 - begin, 0, count);
  with_step(d_, [&]<std::ptrdiff_t step>() __attribute__((always_inline)) {
    across_of_row<step>(fine_row(k, begin, y, z, 0), fine_row(k, begin, y, z, 1),
                        fine_row(k, begin, y, z, 2), here, after, count, followed, out);
  });
}

template class PlaneCoarsener<float>;
template class PlaneCoarsener<double>;

}  // namespace weft::solver
