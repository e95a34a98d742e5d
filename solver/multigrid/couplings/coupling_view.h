#pragma once

#include <array>
#include <cstddef>

#include "comm_thread/engine/crew.h"
#include "solver/multigrid/couplings/coupling_plane.h"
#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// Couplings of the points of a box, times a factor, in memory of somebody else, from which set-up
/// reads one plane after the other.
struct CouplingView {
  spmv::GridBox points;  // those with all of their couplings
  spmv::GridBox grid;  // all points
  spmv::GridLayout layout;  // of all arrays
  std::array<const double*, 3> before{};  // couplings of a point and the one before it
  /// What a row adds up to without couplings with the boundary. Null: that is the couplings in
  /// `before` at the ends of the grid, which are none with the boundary then.
  const double* excess = nullptr;
  double factor = 1;

  /// Elements from a point to the next one in direction d.
  std::ptrdiff_t stride(std::size_t d) const {
    return d == 0 ? 1 : d == 1 ? layout.row_stride() : layout.plane_stride();
  }

  /// Fills the plane z of `box`, which is part of `points`, with couplings times the factor; for
  /// the plane after the last one, those in z only.
  void load(const spmv::GridBox& box, spmv::GlobalIndex z, CouplingPlane& plane) const;

 private:
  void load_excess(const spmv::GridBox& box, spmv::GlobalIndex y, spmv::GlobalIndex z,
                   double* out) const;
  double excess_beside_boundary(const std::array<spmv::GlobalIndex, 3>& at) const;
};

/// The largest of all couplings and excesses of `view`, of all ranks.
/// Collective. Thread: the main thread, outside the team.
double collective_largest(const comm_thread::Crew& crew, const CouplingView& view);

}  // namespace weft::solver
