#include "solver/multigrid/couplings/coarsening.h"

#include <algorithm>
#include <array>

#include "spmv/grid/shares.h"

namespace weft::solver {
namespace {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;

/// Calls row(y, z), by all threads of `team`, each for its own rows of `box`.
template <class Row>
void for_each_row(const comm_thread::ComputeTeam& team, const GridBox& box, const Row& row) {
  team.run([&](const TeamThread& thread) {
    for (const GridBox& part : spmv::share_of_rows(box, thread.index, thread.count))
      for (GlobalIndex z = part.begin[2]; z < part.end[2]; ++z)
        for (GlobalIndex y = part.begin[1]; y < part.end[1]; ++y) row(y, z);
  });
}

double in_series(double a, double b) { return a + b > 0 ? a * (b / (a + b)) : 0; }

GridBox coarse_points(const GridBox& fine, const GridBox& grid, std::size_t direction) {
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

/// Coarsens in one direction: places of fine values for those of coarse points.
template <class Value>
class Coarsener {
 public:
  Coarsener(const GridCouplings& fine, const GridBox& grid, std::size_t direction,
            const InterpolationWeights<Value>& weights)
      : fine_(fine),
        d_(direction),
        size_(grid.end[direction]),
        grid_(grid),
        weights_(weights),
        stride_(fine.stride(direction)),
        step_x_(direction == 0 ? 2 : 1) {}

  void fill_weights(GlobalIndex y, GlobalIndex z) const {
    const double* const before = fine_.before(d_) + fine_index(weights_.box.begin[0], y, z);
    Value* const out = weights_.row(y, z) + weights_.box.begin[0];
    for (GlobalIndex x = 0; x < weights_.box.size(0); ++x) {
      const double a = before[x * step_x_];
      const double b = before[x * step_x_ + stride_];
      out[x] = a + b > 0 ? static_cast<Value>(a / (a + b)) : Value{0.5};
    }
  }

  /// A row of the points of `coarse` and those after them.
  void fill_row(GridCouplings& coarse, GlobalIndex y, GlobalIndex z) const {
    const std::array<GlobalIndex, 3> at{0, y, z};
    const GridBox& points = coarse.points();
    std::array<bool, 3> is_end{};  // of couplings only
    for (const std::size_t d : {1U, 2U}) is_end[d] = at[d] == points.end[d];
    for (std::size_t k = 0; k < 3; ++k) {
      GridBox row = points;
      ++row.end[k];
      if ((is_end[1] && k != 1) || (is_end[2] && k != 2)) continue;
      double* const out = coarse.before(k) + coarse.layout().index(row.begin[0], y, z);
      if (k == d_)
        fill_along(row, y, z, out);
      else
        fill_across(k, row, y, z, out);
    }
    if (!is_end[1] && !is_end[2])
      fill_excess(points, y, z, coarse.excess() + coarse.layout().index(points.begin[0], y, z));
  }

 private:
  /// Of the fine point 2j, for j in the direction.
  std::ptrdiff_t fine_index(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
    std::array<GlobalIndex, 3> at{x, y, z};
    at[d_] *= 2;
    return static_cast<std::ptrdiff_t>(fine_.layout().index(at[0], at[1], at[2]));
  }
  /// The weights of coarse points (…, y, z), `after` points on in the direction.
  const Value* weights_row(GlobalIndex y, GlobalIndex z, GlobalIndex after) const {
    std::array<GlobalIndex, 3> at{0, y, z};
    if (d_ != 0) at[d_] += after;
    return weights_.row(at[1], at[2]) + (d_ == 0 ? after : 0);
  }

  /// True if a fine point follows that of coarse point (x, y, z).
  bool has_next(GlobalIndex x, GlobalIndex y, GlobalIndex z) const {
    return 2 * (d_ == 0 ? x : d_ == 1 ? y : z) + 2 < size_;
  }

  void fill_along(const GridBox& row, GlobalIndex y, GlobalIndex z, double* out) const {
    const double* const before = fine_.before(d_) + fine_index(row.begin[0], y, z);
    for (GlobalIndex x = row.begin[0]; x < row.end[0]; ++x) {
      const GlobalIndex j = d_ == 0 ? x : d_ == 1 ? y : z;
      const std::ptrdiff_t i = (x - row.begin[0]) * step_x_;
      // Where 2j is beyond the last point, its coupling is with the boundary.
      out[x - row.begin[0]] = 2 * j < size_ ? in_series(before[i], before[i + stride_]) : before[i];
    }
  }

  void fill_across(std::size_t k, const GridBox& row, GlobalIndex y, GlobalIndex z,
                   double* out) const {
    // The weights at both ends of a coupling, those inside of the grid.
    const GlobalIndex low_y = k == 1 ? std::max<GlobalIndex>(y - 1, 0) : y;
    const GlobalIndex low_z = k == 2 ? std::max<GlobalIndex>(z - 1, 0) : z;
    const GlobalIndex high_y = k == 1 ? std::min(y, grid_.end[1] - 1) : y;
    const GlobalIndex high_z = k == 2 ? std::min(z, grid_.end[2] - 1) : z;
    const Value* const low = weights_row(low_y, low_z, 0);
    const Value* const high = weights_row(high_y, high_z, 0);
    const Value* const low_after = weights_row(low_y, low_z, 1);
    const Value* const high_after = weights_row(high_y, high_z, 1);
    const double* const before = fine_.before(k) + fine_index(row.begin[0], y, z);
    for (GlobalIndex x = row.begin[0]; x < row.end[0]; ++x) {
      const GlobalIndex low_x = k == 0 ? std::max<GlobalIndex>(x - 1, 0) : x;
      const GlobalIndex high_x = k == 0 ? std::min(x, grid_.end[0] - 1) : x;
      const auto mean = [&](const Value* a, const Value* b) {
        return (static_cast<double>(a[low_x]) + static_cast<double>(b[high_x])) / 2;
      };
      const std::ptrdiff_t i = (x - row.begin[0]) * step_x_;
      double sum = before[i + stride_] + (1 - mean(low, high)) * before[i];
      if (has_next(x, y, z)) sum += mean(low_after, high_after) * before[i + 2 * stride_];
      out[x - row.begin[0]] = sum;
    }
  }

  void fill_excess(const GridBox& row, GlobalIndex y, GlobalIndex z, double* out) const {
    const double* const excess = fine_.excess() + fine_index(row.begin[0], y, z);
    const Value* const here = weights_row(y, z, 0);
    const Value* const after = weights_row(y, z, 1);
    for (GlobalIndex x = row.begin[0]; x < row.end[0]; ++x) {
      const std::ptrdiff_t i = (x - row.begin[0]) * step_x_;
      double sum = excess[i + stride_] + (1 - static_cast<double>(here[x])) * excess[i];
      if (has_next(x, y, z)) sum += static_cast<double>(after[x]) * excess[i + 2 * stride_];
      out[x - row.begin[0]] = sum;
    }
  }

  const GridCouplings& fine_;
  std::size_t d_;
  GlobalIndex size_;  // in the direction
  const GridBox& grid_;
  const InterpolationWeights<Value>& weights_;
  std::ptrdiff_t stride_;
  std::ptrdiff_t step_x_;  // fine elements from one coarse point of a row to the next
};

}  // namespace

GridBox weights_box(const GridCouplings& fine, std::size_t direction) {
  GridBox box = fine.points();
  if (box.is_empty()) return {};
  box.begin[direction] = (box.begin[direction] + 1) / 2;
  box.end[direction] = (box.end[direction] + 1) / 2;
  return box;
}

template <class Value>
GridCouplings coarsened(const comm_thread::ComputeTeam& team, const GridCouplings& fine,
                        const GridBox& grid, std::size_t direction,
                        const InterpolationWeights<Value>& weights) {
  GridCouplings coarse(coarse_points(fine.points(), grid, direction));
  const Coarsener<Value> coarsener(fine, grid, direction, weights);
  for_each_row(team, weights.box,
               [&](GlobalIndex y, GlobalIndex z) { coarsener.fill_weights(y, z); });
  if (coarse.points().is_empty()) return coarse;
  GridBox rows = coarse.points();
  ++rows.end[1];
  ++rows.end[2];
  for_each_row(team, rows, [&](GlobalIndex y, GlobalIndex z) { coarsener.fill_row(coarse, y, z); });
  return coarse;
}

template GridCouplings coarsened(const comm_thread::ComputeTeam&, const GridCouplings&,
                                 const GridBox&, std::size_t, const InterpolationWeights<float>&);
template GridCouplings coarsened(const comm_thread::ComputeTeam&, const GridCouplings&,
                                 const GridBox&, std::size_t, const InterpolationWeights<double>&);

}  // namespace weft::solver
