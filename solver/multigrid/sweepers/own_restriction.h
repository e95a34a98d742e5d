#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "spmv/grid/box.h"
#include "spmv/grid/layout.h"
#include "spmv/grid/stencil.h"

namespace weft::solver {

/// One rank's share of the right-hand side of the next grid: the restriction of b − A·x for b and x
/// that are 0 outside of the rank's own points.
///
///     fine      o o o o|. .       own points o; at the first points beside them −A·x is not 0
///     coarse      s   s|  s       inner coarse points need own points only; s: the others
///
/// Shares of all ranks add up to the restricted residual. Each follows from one state of one rank,
/// so a sum of shares from different moments is the residual of a vector: that of those states.
/// Residuals that ranks compute from halos have not this property: where two ranks know different
/// values of a third, the difference acts like a source at their boundary, 1/h times as large.
/// Shares are large at the boundary and cancel; so they are in double precision.
class OwnRestriction {
 public:
  OwnRestriction(const spmv::GridStencil& stencil, const GridLevel& fine, const GridLevel& coarse,
                 const spmv::GridBox& own, int thread_count);

  /// The points of the next grid where the share of a rank with the fine points `own` is not 0.
  static spmv::GridBox points_of(const GridLevel& fine, const GridLevel& coarse,
                                 const spmv::GridBox& own);
  const spmv::GridBox& points() const { return points_; }

  /// Values of a rank: x + correction, and b, both of `layout`.
  struct Values {
    const spmv::GridLayout& layout;
    const double* b;
    const double* x;
    const GridArray<float>& correction;
  };

  /// `inner`: the restricted residual at inner points, as a DownPass computes it. Shape: share: the
  /// points, rows along x first. Thread: every thread of the team.
  void run(const comm_thread::TeamThread& thread, const Values& values,
           const GridArray<float>& inner, std::span<double> share);

 private:
  struct Weights {
    spmv::GlobalIndex first = 0;
    std::size_t count = 1;
    std::array<double, 3> values{1, 0, 0};
  };
  Weights weights(std::size_t direction, spmv::GlobalIndex coarse) const;
  spmv::GridBox fine_box(const spmv::GridBox& coarse) const;
  struct Memory {
    std::vector<double> residual;
    std::vector<double> values;
  };
  static spmv::GridBox around_of(spmv::GridBox box);
  void copy_values(const spmv::GridBox& box, const Values& values, std::vector<double>& copy) const;
  void find_residual(const spmv::GridBox& box, spmv::GlobalIndex y, spmv::GlobalIndex z,
                     const Values& values, const double* x, std::ptrdiff_t row,
                     std::ptrdiff_t plane, double* out) const;
  void restrict_box(const spmv::GridBox& box, const Values& values, Memory& memory,
                    std::span<double> share) const;
  std::size_t place(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const;

  spmv::GridStencil stencil_;
  const GridLevel& fine_;
  const GridLevel& coarse_;
  spmv::GridBox own_;
  spmv::GridBox points_;
  spmv::GridBox inner_;
  std::vector<std::vector<spmv::GridBox>> shell_;  // [threads]
  std::vector<Memory> memories_;  // [threads]
};

}  // namespace weft::solver
