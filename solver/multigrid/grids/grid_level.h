#pragma once

#include <array>
#include <vector>

#include "spmv/grid/grid_box.h"
#include "spmv/grid/stencil.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// The points of one direction of a grid, at 1, 2, …, n in units of the distance between them; the
/// boundaries, where values are 0, are at 0 and at n + `last_gap`.
///
///     finest, n = 6      |  o  o  o  o  o  o  |      last gap 1
///     coarse, n = 3      |     o     o     o  |      last gap 1/2: every second point, always the
///     coarser, n = 1     |           o        |      second; 3/4
///
/// So grids of any size can be coarsened, and boundaries stay where they are.
struct GridDirection {
  spmv::GlobalIndex size = 1;
  double last_gap = 1;
  double coupling = 0;  // of neighbours: 1/distance² times the coefficient

  /// The coupled neighbours and the diagonal of point `i`, of -d²/dx² times the coefficient.
  double before(spmv::GlobalIndex i) const { return is_last(i) ? coupling / mass(i) : coupling; }
  double diagonal(spmv::GlobalIndex i) const {
    return is_last(i) ? coupling * (1 + 1 / last_gap) / mass(i) : 2 * coupling;
  }
  /// The length that belongs to point `i`; mass times operator is symmetric.
  double mass(spmv::GlobalIndex i) const { return is_last(i) ? (1 + last_gap) / 2 : 1; }

  GridDirection coarse() const;
  /// Weights with which the fine points 2j, 2j+1 and 2j+2 give coarse point j its right-hand side:
  /// the transpose of the interpolation, by masses.
  std::array<double, 3> restriction(spmv::GlobalIndex j) const;
  /// Weights of the coarse points i/2 - 1 and i/2 at an even fine point i; an odd one is a coarse
  /// point. Linear interpolation between the points and the boundary.
  std::array<double, 2> interpolation(spmv::GlobalIndex i) const;

 private:
  bool is_last(spmv::GlobalIndex i) const { return i == size - 1; }
};

/// One grid of a multigrid hierarchy and its operator, divided by its largest coupling: the same
/// 7-point formula on each, also below a finest grid of 27 points.
struct GridLevel {
  std::array<GridDirection, 3> directions;
  bool has_corners = false;  // 27 points, of the finest grid only
  double scale = 1;  // the largest coupling, by which the others are divided
  std::array<bool, 3> is_coarsened{};  // towards the next level

  spmv::GridBox points() const {
    return {{0, 0, 0}, {directions[0].size, directions[1].size, directions[2].size}};
  }
  spmv::GlobalIndex point_count() const { return points().point_count(); }
  double diagonal(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const;
  /// Upper bound of the eigenvalues of D⁻¹·A.
  double largest_eigenvalue() const;
};

/// A direction is coarsened with the strongest one if its coupling is at least this much of it.
/// With 0.5, directions that differ by two were coarsened together, which left cycles with a least
/// eigenvalue of 0.63 instead of 0.70; with 0.7, those that differ by 1.5 take grids of half as
/// many points again and gain nothing for it.
inline constexpr double least_coupling = 0.65;

/// All grids, at least two, the finest first, the last with at most `coarsest_points` of them.
/// Directions whose coupling is at least `least_coupling` of the strongest are coarsened, which
/// keeps point smoothers good for any anisotropy.
std::vector<GridLevel> grid_levels(const spmv::GridStencil& stencil,
                                   spmv::GlobalIndex coarsest_points);

}  // namespace weft::solver
