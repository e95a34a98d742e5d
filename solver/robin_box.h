#pragma once

#include <cstddef>

namespace weft::solver {

/// The matrix that a subdomain solves with: the 2-D Laplacian (diagonal 4, neighbours −1) on
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
};

}  // namespace weft::solver
