#pragma once

#include <span>

#include "solver/robin_box.h"
#include "solver/tile_layout.h"

namespace weft::solver {

/// What a tile solves on: its own points and, on sides where there is another tile, the overlap.
///
///     points 3, overlap 1, another tile above and on the right:   o o o o     o overlap
///                                                                 x x x o     x own
///                                                                 x x x o
///                                                                 x x x o
///
/// On the outermost layer of such sides the transmission condition holds. Points of the box are
/// numbered row by row, x fastest.
struct TileBox {
  bool west = false, east = false, south = false, north = false;  // where another tile is
  TileArea area;

  /// `column`, `row`: of the tile among q×q.
  static TileBox of_tile(int tiles_per_side, int points_per_side, int overlap, int column, int row);

  RobinBox matrix(double beta) const;
  /// Equal for tiles with equal matrices: 0 to 15.
  int kind() const { return west + 2 * east + 4 * south + 8 * north; }
};

/// b − A·x of the tile's own points, squared and summed up in one order: reads the values around
/// them, too. `values`: as `layout` says. Shape: source: b on the box.
/// 8 flops and 16 bytes a point.
double residual_square(const TileLayout& layout, const TileBox& box, const double* values,
                       std::span<const double> source);

/// The right-hand side of the tile's system: b, and on the outermost layer of each side where there
/// is another tile the neighbour's x one point further out − beta·x at the point itself.
/// Shape: source, out: [box]. Source: Yamazaki et al. 2019, section 4, equation (2).
void form_right_hand_side(const TileLayout& layout, const TileBox& box, double beta,
                          const double* values, std::span<const double> source,
                          std::span<double> out);

/// Copies what `solution` has for own points to `values`. Shape: solution: [box].
void keep_own_points(const TileLayout& layout, const TileBox& box, std::span<const double> solution,
                     double* values);

}  // namespace weft::solver
