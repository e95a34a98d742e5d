#pragma once

#include <array>
#include <vector>

#include "spmv/grid/grid_box.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/index.h"

namespace weft::spmv {

/// A box of a neighbour that this rank needs, and one of its own that the neighbour needs.
struct GridNeighbour {
  int rank = 0;
  GridBox sent;  // own points
  GridBox received;  // the neighbour's
};

/// The direction along which kernels that are free to choose have their rows: x, or the longest one
/// where rows along x are short and the grid is small. On large grids it is cut anyway.
std::size_t direction_of_long_rows(const GridSize& grid);

/// A grid cut into one box per rank, in three directions.
///
///     6×6×1 points, 4 ranks        x 0 1 2 | 3 4 5
///                              y 0..2  r0  |  r1       rank = x + dims[0]·(y + dims[1]·z)
///                              y 3..5  r2  |  r3
///
/// The cut has the least surface; among equals z is cut before y and y before x, because rows along
/// x are what kernels like long. Sizes of the boxes differ by at most one in each direction.
class GridPartition {
 public:
  /// Throws comm_thread::InputError when there is no way to give every rank a point.
  GridPartition(const GridSize& grid, int rank_count);

  /// Whole planes in z for each rank, of which there are at least as many.
  static GridPartition in_planes(const GridSize& grid, int rank_count);

  /// The same boxes on the same ranks, where x and direction `d` have changed places.
  GridPartition with_x_exchanged(std::size_t d) const;

  /// Boxes per direction.
  const std::array<int, 3>& dims() const { return dims_; }
  /// From the rank of a box to that of the next one in a direction.
  const std::array<int, 3>& steps() const { return steps_; }
  const GridSize& grid() const { return grid_; }
  /// All points.
  GridBox domain() const { return {{0, 0, 0}, {grid_.x, grid_.y, grid_.z}}; }

  GridBox box(int rank) const;
  /// The ranks whose boxes have points in `box`, in ascending order.
  std::vector<int> owners(const GridBox& box) const;

  /// Neighbours with which `rank` exchanges a halo of `depth` points, in ascending ranks: those
  /// across faces and, if it is deeper than one point or `has_corners`, across edges and corners.
  /// Throws comm_thread::InputError if `depth` is below one, or above the number of points of a
  /// rank in a cut direction.
  std::vector<GridNeighbour> neighbours(int rank, int depth, bool has_corners = false) const;

 private:
  GridPartition(const GridSize& grid, const std::array<int, 3>& dims) : grid_(grid) {
    set_dims(dims);
  }
  std::array<int, 3> place(int rank) const;
  void set_dims(const std::array<int, 3>& dims);
  GlobalIndex cut(std::size_t direction, int index) const;

  GridSize grid_;
  std::array<int, 3> dims_{1, 1, 1};
  std::array<int, 3> steps_{1, 1, 1};
};

}  // namespace weft::spmv
