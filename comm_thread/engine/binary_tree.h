#pragma once

#include <algorithm>
#include <array>

namespace weft::comm_thread {

/// Position of one rank in a binary tree over the ranks 0 … size-1.
///
///     0 ─┬─ 1 ─┬─ 2
///        │     └─ 3        7 ranks
///        └─ 4 ─┬─ 5
///              └─ 6
///
/// The ranks of a subtree follow each other: most messages stay among ranks that a machine has put
/// near each other.
/// Source: Yamazaki et al. 2019, section 4.3, figures 2(b) and 3, whose ranks have other numbers.
struct BinaryTree {
  BinaryTree(int rank, int size) {
    int root = 0;
    while (root != rank) {
      parent = root;
      const int first = root + 1;
      const int second = first + (size - 1) / 2;
      const bool is_in_second = rank >= second;
      root = is_in_second ? second : first;
      size = is_in_second ? size - 1 - (size - 1) / 2 : (size - 1) / 2;
    }
    child_count = std::min(size - 1, 2);
    children = {rank + 1, rank + 1 + (size - 1) / 2};
  }

  bool is_root() const { return parent < 0; }

  int parent = -1;  // -1 at the root
  int child_count = 0;
  std::array<int, 2> children{};  // the first `child_count` exist
};

}  // namespace weft::comm_thread
