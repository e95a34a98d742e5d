#include "comm_thread/engine/binary_tree.h"

#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

TEST_CASE("every rank but the root is the child of its parent, once") {
  for (int size = 1; size <= 40; ++size) {
    std::vector<int> parents(static_cast<std::size_t>(size), -1);
    for (int rank = 0; rank < size; ++rank) {
      const BinaryTree tree(rank, size);
      for (int child = 0; child < tree.child_count; ++child) {
        const int of = tree.children[static_cast<std::size_t>(child)];
        REQUIRE(of < size);
        CHECK(parents[static_cast<std::size_t>(of)] == -1);
        parents[static_cast<std::size_t>(of)] = rank;
      }
    }
    for (int rank = 0; rank < size; ++rank)
      CHECK(BinaryTree(rank, size).parent == parents[static_cast<std::size_t>(rank)]);
    CHECK(BinaryTree(0, size).is_root());
  }
}

}  // namespace
}  // namespace weft::comm_thread
