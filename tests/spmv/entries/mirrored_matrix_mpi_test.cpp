#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/entries/mirrored_matrix.h"
#include "tests/spmv/entries/dense_rows.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::InputError;
using tests::DenseRows;
using tests::has_rows_of;
using tests::none;

DistributedMatrix collective_mirrored(const DenseRows& dense) {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  const DistributedMatrix half = tests::collective_deal(world, team, dense);
  return collective_mirror(world, team, half, collective_find_sides(world, team, half));
}

const DenseRows whole{
    {4, -1, none, 3}, {-1, 5, -2, none}, {none, -2, 6, none}, {3, none, none, none}};

TEST_CASE("either half of a symmetric matrix becomes the matrix") {
  const DistributedMatrix from_upper = collective_mirrored(
      {{4, -1, 0, 3}, {none, 5, -2, none}, {none, none, 6, none}, {none, none, none, none}});
  CHECK(has_rows_of(from_upper, whole));
  CHECK(from_upper.global_nonzero_count == 9);
  CHECK(has_rows_of(
      collective_mirrored(
          {{4, none, none, none}, {-1, 5, none, none}, {none, -2, 6, none}, {3, none, none, none}}),
      whole));
  CHECK(has_rows_of(
      collective_mirrored(
          {{4, -1, none, 3}, {0, 5, -2, none}, {none, 0, 6, none}, {0, none, none, none}}),
      whole));
}

TEST_CASE("a matrix that has both triangles stays, where they are mirror images") {
  CHECK(has_rows_of(collective_mirrored(whole), whole));
  DenseRows unequal = whole;
  unequal[2][1] = -2.5;
  CHECK_THROWS_WITH(collective_mirrored(unequal),
                    Catch::Contains("found -2 for row 2, column 3, but -2.5 for row 3, column 2"));
  CHECK_THROWS_AS(collective_mirrored({{4, -1, none}, {none, 4, none}, {none, -2, 4}}), InputError);
}

TEST_CASE("the diagonal blocks of half a matrix by blocks stay as they are") {
  CHECK(has_rows_of(collective_mirrored(
                        {{4, 1, 7, none}, {1, 4, none, 8}, {none, none, 4, 2}, {none, none, 2, 4}}),
                    {{4, 1, 7, none}, {1, 4, none, 8}, {7, none, 4, 2}, {none, 8, 2, 4}}));
}

}  // namespace
}  // namespace weft::spmv
