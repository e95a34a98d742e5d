#pragma once

#include <vector>

namespace weft::solver {

/// Owners of q×q tiles, numbered row by row.
///
///     q = 3, 3 ranks    0 0 0     q = 4, 4 ranks    0 0 1 1     q = 3, 4 ranks    0 0 0
///     by rows           1 1 1     in boxes          0 0 1 1     in order          1 1 2
///                       2 2 2                       2 2 3 3                       2 3 3
///                                                   2 2 3 3
///
/// In boxes where that gives no rank more tiles than another cut would, with the shortest cuts;
/// otherwise in order.
class TilePartition {
 public:
  /// Throws comm_thread::InputError where there are fewer tiles than ranks.
  TilePartition(int tiles_per_side, int rank_count);

  int tiles_per_side() const { return tiles_per_side_; }

  /// Ascending.
  std::vector<int> tiles_of(int rank) const;
  int rank_of(int tile) const;

  bool is_in_boxes() const { return columns_ > 0; }
  /// Boxes per row and column of them, where `is_in_boxes`.
  int columns() const { return columns_; }
  int rows() const { return columns_ > 0 ? rank_count_ / columns_ : 0; }

 private:
  int tiles_per_side_;
  int rank_count_;
  int columns_ = 0;  // of boxes; 0: in order
};

}  // namespace weft::solver
