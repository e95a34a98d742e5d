#include "solver/multigrid/grids/turned_grid.h"

#include <algorithm>
#include <utility>

#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_operator.h"
#include "spmv/grid/shares.h"

namespace weft::solver {

using comm_thread::TeamThread;
using spmv::GlobalIndex;
using spmv::GridBox;
using spmv::GridLayout;

namespace {

/// Rows of the source that are in the first-level cache together.
constexpr GlobalIndex rows_in_cache = 32;

/// Larger grids have long rows on coarse grids, too, and would need copies of b and x.
constexpr GlobalIndex most_points = GlobalIndex{1} << 20;

/// Whether x alone is coarsened, at least three times, and y is as long. 80³ with weights 1000:1:1
/// takes 0.24 instead of 0.31 of PFMG-CG so, with 10:1:1 and 100:1:100 as long as before.
bool coarsens_x_alone(const spmv::GridStencil& stencil) {
  const auto& [x, y, z] = stencil.weights;
  return x >= 64 * std::max(y, z) && stencil.grid.y >= stencil.grid.x &&
         stencil.row_count() <= most_points;
}

std::array<GlobalIndex, 3> place_of(std::array<GlobalIndex, 3> at, std::size_t direction) {
  std::swap(at[0], at[direction]);
  return at;
}

}  // namespace

std::size_t TurnedGrid::direction_for(const spmv::GridStencil& stencil) {
  const spmv::GridSize& grid = stencil.grid;
  std::size_t direction = spmv::direction_of_long_rows(grid);
  if (direction == 0 && coarsens_x_alone(stencil)) direction = 1;
  const GlobalIndex longest = std::array{grid.x, grid.y, grid.z}.at(direction);
  return longest > spmv::GridOperator::longest_row ? 0 : direction;
}

TurnedGrid::TurnedGrid(const spmv::GridStencil& stencil, const spmv::GridPartition& partition,
                       int rank)
    : direction_(direction_for(stencil)),
      stencil_(stencil.with_x_exchanged(direction_)),
      partition_(partition.with_x_exchanged(direction_)),
      layout_(partition_.box(rank), 1) {}

std::size_t TurnedGrid::index_in(const GridLayout& given, std::array<GlobalIndex, 3> at) const {
  const auto [x, y, z] = place_of(at, direction_);
  return given.index(x, y, z);
}

void TurnedGrid::turn(const TeamThread& thread, const GridLayout& given, const double* from,
                      double* to) const {
  exchange(thread, given, from, layout_, to);
}

void TurnedGrid::turn_back(const TeamThread& thread, const double* from, const GridLayout& given,
                           double* to) const {
  exchange(thread, layout_, from, given, to);
}

void TurnedGrid::exchange(const TeamThread& thread, const GridLayout& from_layout,
                          const double* from, const GridLayout& to_layout, double* to) const {
  const std::size_t d = direction_;
  const std::size_t other = 3 - d;  // the direction that stays
  const std::ptrdiff_t from_step = d == 1 ? from_layout.row_stride() : from_layout.plane_stride();
  for (const GridBox& share : spmv::share_of_rows(to_layout.own(), thread.index, thread.count))
    for (GlobalIndex k = share.begin[other]; k < share.end[other]; ++k)
      for (GlobalIndex first = share.begin[0]; first < share.end[0]; first += rows_in_cache) {
        const GlobalIndex count = std::min(rows_in_cache, share.end[0] - first);
        for (GlobalIndex j = share.begin[d]; j < share.end[d]; ++j) {
          std::array<GlobalIndex, 3> at{};
          at[0] = first;
          at[d] = j;
          at[other] = k;
          double* const row = to + to_layout.index(at[0], at[1], at[2]);
          at = place_of(at, d);
          const double* const column = from + from_layout.index(at[0], at[1], at[2]);
          for (GlobalIndex i = 0; i < count; ++i) row[i] = column[i * from_step];
        }
      }
}

}  // namespace weft::solver
