#pragma once

#include <limits>

#include "spmv/problems/right_hand_side.h"
#include "spmv/rows/index.h"

namespace weft::solver {

/// The 2-D Poisson problem (diagonal 4, neighbours −1, Dirichlet points eliminated) cut into
/// tiles, as optimized Schwarz methods solve it.
///
///     q = 2, m = 3, overlap 1        · · ·|· · ·
///     the tile below on the     · · ·|· · ·
///     left solves on the points o    o o o o · ·     o outside of its own 3×3: the overlap
///     and keeps those of its own     ─ ─ ─|─ ─ ─
///     3×3                            o o o|o · ·
///                                    o o o|o · ·
///                                    o o o|o · ·
///
/// Source: Yamazaki et al. 2019, section 4.
struct SchwarzProblem {
  int tiles_per_side = 1;  // q: q×q tiles
  int points_per_side = 1;  // m: of m×m points each
  int overlap = 1;  // points by which a tile grows on sides where there is another
  /// Of the transmission condition ∂x/∂n + alpha·x, in units of the mesh; infinite: Dirichlet,
  /// the classical method.
  double alpha = std::numeric_limits<double>::infinity();
  spmv::RightHandSide right_hand_side{};

  /// Amount that the condition takes from the diagonal: 1/(1+alpha).
  double beta() const { return 1 / (1 + alpha); }
  spmv::GlobalIndex grid_side() const {
    return spmv::GlobalIndex{tiles_per_side} * points_per_side;
  }
  /// b at a point of the grid.
  double source(spmv::GlobalIndex x, spmv::GlobalIndex y) const;
};

/// Throws comm_thread::InputError where a number is out of range, where a tile would grow
/// beyond its neighbours, and for a right-hand side from a file.
void check(const SchwarzProblem& problem);

}  // namespace weft::solver
