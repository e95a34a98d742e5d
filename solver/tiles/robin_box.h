#pragma once

#include <algorithm>
#include <cstddef>

namespace weft::solver {

/// The matrix that a tile solves with: the 2-D Laplacian (diagonal 4, neighbours −1) on
/// width × height points, less a number on the diagonal along each side.
///
///     width 3, height 2      4−w−n   4−n   4−e−n         a Kronecker sum: I ⊗ T_x + T_y ⊗ I with
///     diagonal               4−w−s   4−s   4−e−s         T_x = tridiag(−1, 2, −1) less w and e
///
/// Points are numbered row by row, x fastest, from `south` to `north`.
struct RobinBox {
  int width = 0;
  int height = 0;
  double west = 0, east = 0, south = 0, north = 0;

  std::size_t point_count() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  bool operator==(const RobinBox&) const = default;
};

/// The points of a box that are within so many of each side.
struct BoxFrame {
  int west = 0, east = 0, south = 0, north = 0;

  static BoxFrame whole(const RobinBox& box) { return {.south = box.height}; }
  bool operator==(const BoxFrame&) const = default;

  /// Calls work(x, y, count) for the points of the frame, row by row, and rest(x, y, count) for the
  /// others of a box of `width` × `height` points.
  template <class Work, class Rest>
  [[gnu::always_inline]] void for_each_run(int width, int height, const Work& work,
                                           const Rest& rest) const {
    const int left = std::min(west, width);
    const int right = std::max(left, width - east);
    for (int y = 0; y < height; ++y) {
      if (y < south || y >= height - north || left == right) {
        work(0, y, width);
        continue;
      }
      if (left > 0) work(0, y, left);
      rest(left, y, right - left);
      if (right < width) work(right, y, width - right);
    }
  }
};

}  // namespace weft::solver
