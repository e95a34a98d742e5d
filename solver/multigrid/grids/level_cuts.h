#pragma once

#include <array>
#include <functional>
#include <vector>

#include "spmv/grid/grid_box.h"
#include "spmv/grid/grid_partition.h"

namespace weft::solver {

/// Which box of a grid belongs to which rank, on one level of a hierarchy.
///
///     finest, 4 ranks in x    0 0 0 0|1 1 1 1|2 2 2 2|3 3 3 3     a coarse point stays with
///     coarse                    0   0|  1   1|  2   2|  3   3     the rank of the fine point
///     gathered                  0   0   0   0   2   2   2   2     boxes too small: pairs merge
///
/// Memory and set-up of a rank grow with the number of cuts of one direction only.
class LevelCuts {
 public:
  /// Of the finest grid.
  explicit LevelCuts(const spmv::GridPartition& partition);

  /// Of the next grid, where the directions `is_coarsened` keep every second point.
  LevelCuts coarse(const std::array<bool, 3>& is_coarsened) const;
  /// The same with neighbouring boxes merged, pair by pair, until none has fewer than
  /// `least_points` in a direction that is cut. Merged boxes belong to the lowest of their ranks.
  LevelCuts gathered(spmv::GlobalIndex least_points) const;
  /// The same with one box, of rank 0.
  LevelCuts on_one_rank() const;
  /// The same for the grid with one more point in each direction, which belongs to the last box.
  LevelCuts with_end() const;

  /// The box of `rank`; empty where it has none, and between two others where it has a place but no
  /// point: a finer box of one point may have none that stays.
  spmv::GridBox box(int rank) const;
  bool has_place(int rank) const;
  /// Calls visit(rank, points) for each rank with points in `box`, in ascending order of their
  /// place in the grid of boxes.
  void for_each_owner(const spmv::GridBox& box,
                      const std::function<void(int, const spmv::GridBox&)>& visit) const;

  /// Boxes in direction `d`, and the most points of one.
  int box_count(std::size_t d) const { return static_cast<int>(cuts_[d].size()) - 1; }
  spmv::GlobalIndex largest_size(std::size_t d) const;

  /// Calls visit(rank) for each rank whose box, with points or without, is in `box` or touches it.
  void for_each_touching(const spmv::GridBox& box, const std::function<void(int)>& visit) const;

  bool operator==(const LevelCuts&) const = default;

 private:
  void merge(std::size_t direction);
  int rank_at(int x, int y, int z) const;

  std::array<int, 3> ranks_;  // ranks in each direction of the finest grid
  std::array<int, 3> rank_step_;  // from the rank of a box there to that of the next
  std::array<int, 3> step_{1, 1, 1};  // boxes of the finest grid from one box to the next
  std::array<std::vector<spmv::GlobalIndex>, 3> cuts_;  // first points of the boxes, and the end
};

}  // namespace weft::solver
