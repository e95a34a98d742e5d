#include "solver/amg/coarsening/near_null_space.h"

#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver::amg {

TEST_CASE("a plane body has two translations and a rotation") {
  // Rows 1 2 3 of nodes at (2, 3), (5, 7).
  const NearNullSpace space = rigid_body_modes(std::vector<double>{2, 3, 5, 7, 5, 7}, 2, 1);
  CHECK(space.block_size == 2);
  CHECK(space.vector_count == 3);
  CHECK(space.values == std::vector<double>{0, 1, 2, 1, 0, -7, 0, 1, 5});
}

TEST_CASE("a body in space has three translations and three rotations") {
  const NearNullSpace space =
      rigid_body_modes(std::vector<double>{2, 3, 5, 2, 3, 5, 2, 3, 5}, 3, 0);
  CHECK(space.block_size == 3);
  CHECK(space.vector_count == 6);
  CHECK(space.values == std::vector<double>{1, 0, 0, -3, 0, 5,  //
                                            0, 1, 0, 2, -5, 0,  //
                                            0, 0, 1, 0, 3, -2});
}

TEST_CASE("each row of a node has its constant") {
  const NearNullSpace space = constants_of_nodes(2, 3, 3);
  CHECK(space.vector_count == 2);
  CHECK(space.values == std::vector<double>{0, 1, 1, 0, 0, 1});
  CHECK_FALSE(space.is_constant());
  CHECK(NearNullSpace{}.is_constant());
}

}  // namespace weft::solver::amg
