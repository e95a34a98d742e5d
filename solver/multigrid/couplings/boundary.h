#pragma once

#include <array>

#include "solver/multigrid/couplings/coupling_plane.h"
#include "spmv/grid/grid_box.h"

namespace weft::solver {

/// Turns the excess of points beside the boundary into couplings with it, so that the grid's
/// boundary is known to coarser ones. A point beside several gives each as much as its coupling
/// with the neighbour on the other side; with one point in a direction, it stays excess.
///
///     corner of a grid, excess 3      |──1──o──1──o       2 of 3 go down, as the point
///                                           │2            above is coupled by 2
///                                           o
///
/// `plane`: the plane z of `box`; `after`: the next one, whose couplings in z it reads, and writes
/// if z is the last plane of the grid. `grid`: all points. `has_boundary`: false for directions
/// that the problem has not, of one point.
void give_excess_to_boundary(CouplingPlane& plane, CouplingPlane& after, const spmv::GridBox& box,
                             spmv::GlobalIndex z, const spmv::GridBox& grid,
                             const std::array<bool, 3>& has_boundary);

}  // namespace weft::solver
