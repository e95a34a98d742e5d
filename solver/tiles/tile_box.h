#pragma once

#include <span>

#include "solver/tiles/robin_box.h"
#include "solver/tiles/tile_layout.h"

namespace weft::solver {

/// Domain of a tile's solve: its own points and, on sides where there is another tile, the overlap.
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
  /// Points at which r = b − A·x differs from 0 if every tile's values satisfy its equations at the
  /// points whose neighbours are its own, too.
  BoxFrame frame(int overlap) const;
  /// Points at which the solution has to be known for that of others and for the next r: own points
  /// as deep as others need them, at least 2, and the overlap.
  BoxFrame edges(int overlap) const;
  /// Own points outside of `frame`; empty where there is none.
  TileArea inside(const BoxFrame& frame, int points_per_side) const;
  BoxFrame whole() const { return BoxFrame::whole(matrix(0)); }
  /// Index of the tile's point (x, y) in an array over the box.
  std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y - area.y_begin) * static_cast<std::size_t>(area.width()) +
           static_cast<std::size_t>(x - area.x_begin);
  }
  /// Equal for tiles with equal matrices: 0 to 15.
  int kind() const { return west + 2 * east + 4 * south + 8 * north; }

 private:
  BoxFrame layers(int count) const;
};

/// Right-hand side of the tile's solve: r = b − A·x on `frame`, from the current values there and
/// around it; elsewhere r stays as it is. Returns the sum of its squares on the tile's own points.
///
/// The tile's system is (A_p)·y = b + (on each side where there is another tile, the neighbour's x
/// one point further out − beta·x at the point itself). With y = x + d that is A_p·d = r: beta
/// cancels out of the right-hand side, d falls with the error, and so does its rounding.
/// Solving for y instead, 2688² points come no further than a residual of 8e-8.
/// 8 flops and 24 bytes a point of the frame. `values`: as `layout` says. Shape: source (b), r:
/// [box]. Source: Yamazaki et al. 2019, section 4, equation (2); St-Cyr, Gander, Thomas 2007 (the
/// same as a correction, "ORAS").
double form_residual(const TileLayout& layout, const TileBox& box, const double* values,
                     std::span<const double> source, const BoxFrame& frame, std::span<double> r);

/// next = values + relaxation·correction on the tile's own points in `frame`.
/// Shape: correction: [box].
void add_correction(const TileLayout& layout, const TileBox& box, const double* values,
                    double relaxation, std::span<const double> correction, const BoxFrame& frame,
                    double* next);

}  // namespace weft::solver
