#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "spmv/entries/file_entries.h"
#include "spmv/formats/matrix_file.h"
#include "tests/spmv/entries/dense_rows.h"
#include "tests/support/shared_folder.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using tests::DenseRows;
using tests::has_rows_of;
using tests::none;

const DenseRows blocks_of_two{
    {4, none, -1, none}, {none, 4, none, -1}, {none, none, 4, 1}, {none, none, 1, 4}};

TEST_CASE("PETSc's file of information says of which blocks a matrix has one side") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  const tests::SharedFolder folder(world);
  const std::string path = folder.file("a.petsc");
  collective_write_matrix_file(world, tests::collective_deal(world, team, blocks_of_two), path);
  const auto settle = [&](Triangle triangle, DistributedMatrix& matrix, Remarks& remarks) {
    matrix = collective_read_matrix_file(world, team, path, PartitionBy::rows);
    return collective_settle_entries(world, team, path, triangle, false, matrix, remarks);
  };
  DistributedMatrix matrix = tests::collective_deal(world, team, blocks_of_two);
  Remarks remarks;
  CHECK(settle(Triangle::unsaid, matrix, remarks) == "");
  for (const std::string text :
       {"-matload_block_size 2\n", "# made by hand\n-a_matload_block_size 2\n"}) {
    if (world.is_root()) std::ofstream(path + ".info") << text;
    world.barrier();
    const std::string half = settle(Triangle::unsaid, matrix, remarks);
    CHECK_THAT(half, Catch::StartsWith(path + ": found entries above the diagonal blocks of 2 rows "
                                              "only; expected both triangles"));
    CHECK(has_rows_of(matrix, blocks_of_two));
    CHECK(settle(Triangle::as_is, matrix, remarks) == "");
    CHECK(has_rows_of(matrix, blocks_of_two));
    CHECK(settle(Triangle::mirrored, matrix, remarks) == "");
    CHECK(has_rows_of(
        matrix, {{4, none, -1, none}, {none, 4, none, -1}, {-1, none, 4, 1}, {none, -1, 1, 4}}));
    world.barrier();
  }
  if (world.is_root()) std::ofstream(path + ".info") << "-matload_block_size two\n";
  world.barrier();
  CHECK(settle(Triangle::unsaid, matrix, remarks) == "");
  CHECK(remarks.empty());
}

TEST_CASE("explicit zeros of a file are remarked and left out, or kept for another file") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  const DenseRows dense{{2, 0, -1}, {0, 2, 0}, {-1, none, 0}};
  DistributedMatrix matrix = tests::collective_deal(world, team, dense);
  Remarks remarks;
  CHECK(collective_settle_entries(world, team, "a.mtx", Triangle::unsaid, true, matrix, remarks) ==
        "");
  CHECK(has_rows_of(matrix, dense));
  CHECK(remarks.empty());
  CHECK(collective_settle_entries(world, team, "a.mtx", Triangle::unsaid, false, matrix, remarks) ==
        "");
  CHECK(has_rows_of(matrix, {{2, none, -1}, {none, 2, none}, {-1, none, 0}}));
  CHECK(remarks == Remarks{"a.mtx: 3 of 8 entries are exact zeros off the diagonal and left out of "
                           "the operator"});
}

}  // namespace
}  // namespace weft::spmv
