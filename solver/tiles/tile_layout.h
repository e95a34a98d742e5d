#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace weft::solver {

/// A rectangle of points of a tile, by coordinates from its first own point.
struct TileArea {
  int x_begin = 0, x_end = 0;
  int y_begin = 0, y_end = 0;

  int width() const { return x_end - x_begin; }
  int height() const { return y_end - y_begin; }
  std::size_t point_count() const {
    return static_cast<std::size_t>(width()) * static_cast<std::size_t>(height());
  }
  /// The rest of this area around `inside`, a part of it: below, above, on the left, on the right.
  std::array<TileArea, 4> around(const TileArea& inside) const {
    return {{{x_begin, x_end, y_begin, inside.y_begin},
             {x_begin, x_end, inside.y_end, y_end},
             {x_begin, inside.x_begin, inside.y_begin, inside.y_end},
             {inside.x_end, x_end, inside.y_begin, inside.y_end}}};
  }
};

/// For rows that mostly have two elements: a call would take longer than copying them.
[[gnu::always_inline]] inline void copy_row(const double* from, std::ptrdiff_t count, double* to) {
  if (count == 2) {
    to[0] = from[0];
    to[1] = from[1];
    return;
  }
  std::copy_n(from, count, to);
}

/// On which side of a tile another one lies: -1, 0, 1 per direction.
struct TileSide {
  int x = 0, y = 0;
};

/// Layout in memory of a tile's own points and the ghost points around them: rows along x, own
/// points beginning at a multiple of 64 bytes.
///
///     points 2, depth 1     g g g g
///                           g o o g     o own, g ghost
///                           g o o g
///                           g g g g
class TileLayout {
 public:
  TileLayout(int points_per_side, int depth)
      : points_(points_per_side),
        depth_(depth),
        front_((depth + 7) / 8 * 8),
        row_stride_((front_ + points_ + depth_ + 7) / 8 * 8) {}

  int points_per_side() const { return points_; }
  int depth() const { return depth_; }
  std::ptrdiff_t row_stride() const { return row_stride_; }
  std::size_t element_count() const {
    return static_cast<std::size_t>(points_ + 2 * depth_) * static_cast<std::size_t>(row_stride_);
  }
  /// Shape: x, y from -depth to points_per_side + depth - 1.
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>((y + depth_) * row_stride_ + front_ + x);
  }

  TileArea own() const { return {0, points_, 0, points_}; }
  /// The ghost points whose values come from the tile on `side`.
  TileArea ghosts(TileSide side) const {
    return {ghost_begin(side.x), ghost_end(side.x), ghost_begin(side.y), ghost_end(side.y)};
  }
  /// On which side `area` of ghost points is.
  TileSide side_of_ghosts(const TileArea& area) const {
    return {area.x_begin < 0          ? -1
            : area.x_begin >= points_ ? 1
                                      : 0,
            area.y_begin < 0          ? -1
            : area.y_begin >= points_ ? 1
                                      : 0};
  }
  /// The same points as own points of the tile on `side`.
  TileArea source_of_ghosts(TileSide side) const {
    TileArea area = ghosts(side);
    area.x_begin -= side.x * points_;
    area.x_end -= side.x * points_;
    area.y_begin -= side.y * points_;
    area.y_end -= side.y * points_;
    return area;
  }

 private:
  int ghost_begin(int side) const { return side < 0 ? -depth_ : side == 0 ? 0 : points_; }
  int ghost_end(int side) const { return side < 0 ? 0 : side == 0 ? points_ : points_ + depth_; }

  int points_;
  int depth_;
  int front_;  // elements in front of the first own one
  std::ptrdiff_t row_stride_;
};

}  // namespace weft::solver
