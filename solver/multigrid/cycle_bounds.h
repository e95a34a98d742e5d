#pragma once

#include <span>

#include "solver/multigrid/grids/grid_level.h"

namespace weft::solver {

/// Lower bound, or nearly, of the eigenvalues of a V-cycle times A; the upper one is 1.
///
/// The slowest errors are those that oscillate along the weakest direction of those that a grid
/// coarsens: of all errors that its coarse grid cannot see, the smoother damps them least. How much
/// it does follows from the share of that direction's coupling in all, 1/3 with three equal ones.
/// Finer grids damp the slow errors of a coarse grid as well. Measured by Lanczos' iteration on
/// grids of 48³ and 80³ points: docs/notes/multigrid.md.
double least_eigenvalue_of_cycle(std::span<const GridLevel> levels, int steps);

}  // namespace weft::solver
