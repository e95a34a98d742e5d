#pragma once

#include <algorithm>
#include <array>

namespace weft::comm_thread {

/// Position of one rank in a binary tree over the ranks 0 … size-1.
///
///     0 ─┬─ 1 ─┬─ 3
///        │     └─ 4        7 ranks
///        └─ 2 ─┬─ 5
///              └─ 6
///
/// Source: Yamazaki et al. 2019, section 4.3, figures 2(b) and 3.
struct BinaryTree {
  BinaryTree(int rank, int size)
      : parent(rank == 0 ? -1 : (rank - 1) / 2),
        child_count(std::clamp(size - (2 * rank + 1), 0, 2)),
        children{2 * rank + 1, 2 * rank + 2} {}

  bool is_root() const { return parent < 0; }

  int parent;  // -1 at the root
  int child_count;
  std::array<int, 2> children;  // the first `child_count` exist
};

}  // namespace weft::comm_thread
