#include "solver/amg/coarsening/coarse_columns.h"

#include <vector>

#include <catch2/catch.hpp>

namespace weft::solver::amg {

TEST_CASE("own columns keep their order and others are numbered as they are met") {
  const auto partition = spmv::RowPartition::by_sizes(std::vector<spmv::GlobalIndex>{3, 2, 4});
  CoarseColumns columns(partition, 1);
  CHECK(columns.meet(4) == 1);
  CHECK(columns.meet(8) == 2);
  CHECK(columns.meet(0) == 3);
  CHECK(columns.meet(8) == 2);
  CHECK(columns.meet(2) == 4);
  CHECK(columns.count() == 5);
  CHECK(columns.own_count() == 2);
  CHECK(columns.is_own(1));
  CHECK_FALSE(columns.is_own(2));
  CHECK(columns.global(1) == 4);
  CHECK(columns.global(3) == 0);
  // 0 2 | 3 4 | 8
  CHECK(columns.places() == std::vector<spmv::LocalIndex>{2, 3, 4, 0, 1});
}

}  // namespace weft::solver::amg
