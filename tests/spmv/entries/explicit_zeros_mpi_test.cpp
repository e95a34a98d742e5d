#include <vector>

#include <catch2/catch.hpp>

#include "spmv/entries/explicit_zeros.h"
#include "tests/spmv/entries/dense_rows.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using tests::has_rows_of;
using tests::none;

TEST_CASE("explicit zeros off the diagonal are counted and left out, with the halo they needed") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  DistributedMatrix matrix = tests::collective_deal(world, team,
                                                    {{0, 2, 0, 0, -0.0, 0},
                                                     {0, 0, none, none, none, 0},
                                                     {none, 3, 4, none, none, none},
                                                     {0, 0, 0, 0, 0, 0},
                                                     {none, none, none, none, none, none},
                                                     {5, none, none, none, 0, 6}});
  CHECK(collective_count_zeros(world, team, matrix) == 12);
  const auto halo = matrix.halo_columns;
  collective_drop_zeros(world, team, matrix);
  CHECK(has_rows_of(matrix, {{0, 2, none, none, none, none},
                             {none, 0, none, none, none, none},
                             {none, 3, 4, none, none, none},
                             {none, none, none, 0, none, none},
                             {none, none, none, none, none, none},
                             {5, none, none, none, none, 6}}));
  CHECK(matrix.global_nonzero_count == 8);
  CHECK(matrix.halo_columns == halo);
  CHECK(collective_count_zeros(world, team, matrix) == 0);
  drop_unused_halo(matrix);
  if (world.size() == 2)
    CHECK(matrix.halo_columns ==
          (world.rank() == 0 ? std::vector<GlobalIndex>{} : std::vector<GlobalIndex>{0}));
  CHECK(has_rows_of(matrix, {{0, 2, none, none, none, none},
                             {none, 0, none, none, none, none},
                             {none, 3, 4, none, none, none},
                             {none, none, none, 0, none, none},
                             {none, none, none, none, none, none},
                             {5, none, none, none, none, 6}}));
}

}  // namespace
}  // namespace weft::spmv
