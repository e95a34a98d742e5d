#pragma once

#include <cstddef>

#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/couplings/grid_couplings.h"
#include "spmv/grid/box.h"

namespace weft::solver {

/// Weights of interpolation in one direction: a point 2m, between the coarse points m - 1 and m, is
/// t_m·(value m - 1) + (1 - t_m)·(value m); the points 2m + 1 are the coarse ones.
///
///     coarse m - 1 ──a── fine 2m ──b── coarse m        t = a / (a + b)
///
/// So a flux that goes straight through is interpolated exactly, whatever the couplings.
template <class Value>
struct InterpolationWeights {
  /// The row (y, z), indexed by x.
  Value* row(spmv::GlobalIndex y, spmv::GlobalIndex z) const {
    return first + y * row_stride + z * plane_stride;
  }

  spmv::GridBox box;  // m in one direction, points in the others
  Value* first = nullptr;  // of (0, 0, 0)
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t plane_stride = 0;
};

/// The m and points for which `fine` has the couplings.
spmv::GridBox weights_box(const GridCouplings& fine, std::size_t direction);

/// The couplings of the grid with every second point in one direction, for as many points as those
/// of `fine` allow; fills `weights`, of `weights_box`. Couplings along the direction are in series,
/// those across it in parallel, each as much as the weights of its points, whose transpose
/// restricts:
///
///     along    1 / (1/b_2j + 1/b_2j+1)
///     across   b_2j+1 + (mean of 1 - t_j)·b_2j + (mean of t_j+1)·b_2j+2, over the two ends
///
/// So couplings that are the same everywhere stay what they are on a grid of any size, with the
/// last gap. `grid`: all points of the fine grid. Thread: the main thread, outside the team.
template <class Value>
GridCouplings coarsened(const comm_thread::ComputeTeam& team, const GridCouplings& fine,
                        const spmv::GridBox& grid, std::size_t direction,
                        const InterpolationWeights<Value>& weights);

}  // namespace weft::solver
