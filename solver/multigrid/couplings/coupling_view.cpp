#include "solver/multigrid/couplings/coupling_view.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "perfmodel/simd.h"
#include "solver/multigrid/couplings/row_excess.h"

namespace weft::solver {
namespace {

using spmv::GlobalIndex;
using spmv::GridBox;

[[gnu::always_inline]] inline void scale_row(const double* from, GlobalIndex count, double factor,
                                             double* __restrict to) {
  for (GlobalIndex x = 0; x < count; ++x) to[x] = from[x] * factor;
}

/// True if any of the values is not 0.
[[gnu::always_inline]] inline bool has_other_than_zero(const double* values, GlobalIndex count) {
  std::uint64_t bits = 0;
  for (GlobalIndex x = 0; x < count; ++x) bits |= std::bit_cast<std::uint64_t>(values[x]);
  return bits != 0;
}

/// Of values that are not negative, whose order is that of their bits.
[[gnu::always_inline]] inline std::int64_t largest_bits(const double* values, GlobalIndex count,
                                                        std::int64_t most) {
  for (GlobalIndex x = 0; x < count; ++x)
    most = std::max(most, std::bit_cast<std::int64_t>(values[x]));
  return most;
}

}  // namespace

void CouplingView::load(const GridBox& box, GlobalIndex z, CouplingPlane& plane) const {
  const GlobalIndex begin = box.begin[0];
  const bool is_end = z == box.end[2];
  const auto is_none = [&](std::size_t d, GlobalIndex at) {
    return !excess && (at == 0 || at == grid.end[d]);
  };
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    const auto copy = [&](std::size_t d, GlobalIndex y, GlobalIndex count, bool is_zero)
                          __attribute__((always_inline)) {
                            double* const to = plane.before(d, y) + begin;
                            if (is_zero)
                              std::fill_n(to, count, 0.0);
                            else
                              scale_row(before[d] + layout.index(begin, y, z), count, factor, to);
                          };
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      copy(2, y, box.size(0), is_none(2, z));
      if (is_end) continue;
      copy(1, y, box.size(0), is_none(1, y));
      copy(0, y, box.size(0) + 1, false);
      if (is_none(0, begin)) plane.before(0, y)[begin] = 0;
      if (is_none(0, box.end[0])) plane.before(0, y)[box.end[0]] = 0;
    }
    if (!is_end) copy(1, box.end[1], box.size(0), is_none(1, box.end[1]));
  });
  plane.has_excess = false;
  if (is_end) return;
  perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
    for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
      double* const out = plane.excess(y) + begin;
      if (excess)
        scale_row(excess + layout.index(begin, y, z), box.size(0), factor, out);
      else
        load_excess(box, y, z, out);
      plane.has_excess = has_other_than_zero(out, box.size(0)) || plane.has_excess;
    }
  });
}

void CouplingView::load_excess(const GridBox& box, GlobalIndex y, GlobalIndex z,
                               double* out) const {
  std::fill_n(out, box.size(0), 0.0);
  const bool is_inside = y > 0 && y < grid.end[1] - 1 && z > 0 && z < grid.end[2] - 1;
  for (GlobalIndex x = box.begin[0]; x < box.end[0]; ++x) {
    if (is_inside && x > 0 && x < grid.end[0] - 1) {
      x = std::min(box.end[0], grid.end[0] - 1) - 1;
      continue;
    }
    out[x - box.begin[0]] = excess_beside_boundary({x, y, z}) * factor;
  }
}

/// The sum of a row as the generator of the matrix and then its reader compute it. For points
/// inside rounding is all that it leaves.
double CouplingView::excess_beside_boundary(const std::array<GlobalIndex, 3>& at) const {
  const std::size_t i = layout.index(at[0], at[1], at[2]);
  const auto after = [&](std::size_t d) {
    return before[d][i + static_cast<std::size_t>(stride(d))];
  };
  const double diagonal =
      ((((before[2][i] + before[1][i]) + before[0][i]) + after(0)) + after(1)) + after(2);
  double sum = diagonal;
  for (std::size_t d = 0; d < 3; ++d)
    sum -= (at[d] > 0 ? before[d][i] : 0) + (at[d] + 1 < grid.end[d] ? after(d) : 0);
  return without_rounding(sum, diagonal);
}

double collective_largest(const comm_thread::Crew& crew, const CouplingView& view) {
  std::vector<double> largest(static_cast<std::size_t>(crew.team().thread_count()));
  crew.team().run([&](const comm_thread::TeamThread& thread) {
    GridBox box = view.points;
    const auto share = comm_thread::share_of(box.size(2), thread.index, thread.count);
    if (box.is_empty() || share.begin == share.end) return;
    box.end[2] = box.begin[2] + share.end;
    box.begin[2] += share.begin;
    CouplingPlane plane(box);
    std::int64_t most = 0;
    for (GlobalIndex z = box.begin[2]; z < box.end[2]; ++z) {
      view.load(box, z, plane);
      perfmodel::on_widest_simd([&]() __attribute__((always_inline)) {
        for (GlobalIndex y = box.begin[1]; y < box.end[1]; ++y) {
          for (std::size_t d = 0; d < 3; ++d)
            most = largest_bits(plane.before(d, y) + box.begin[0], box.size(0), most);
          if (plane.has_excess)
            most = largest_bits(plane.excess(y) + box.begin[0], box.size(0), most);
        }
      });
    }
    largest[static_cast<std::size_t>(thread.index)] = std::bit_cast<double>(most);
  });
  return crew.communicator().max(*std::ranges::max_element(largest));
}

}  // namespace weft::solver
