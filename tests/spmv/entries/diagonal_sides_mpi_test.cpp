#include <cstddef>
#include <utility>

#include <catch2/catch.hpp>

#include "spmv/entries/diagonal_sides.h"
#include "tests/spmv/entries/dense_rows.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using tests::DenseRows;
using tests::none;

DiagonalSides collective_sides_of(const DenseRows& dense, GlobalIndex block_size = 0) {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  return collective_find_sides(world, team, tests::collective_deal(world, team, dense), block_size);
}

DenseRows transposed(const DenseRows& dense) {
  DenseRows mirror = dense;
  for (std::size_t i = 0; i < dense.size(); ++i)
    for (std::size_t j = 0; j < dense.size(); ++j) mirror[j][i] = dense[i][j];
  return mirror;
}

void check_one_sided(const DenseRows& upper, GlobalIndex block_size, GlobalIndex given = 0) {
  const DiagonalSides sides = collective_sides_of(upper, given);
  CHECK(sides.is_one_sided());
  CHECK(sides.has_above);
  CHECK(sides.block_size == block_size);
  const DiagonalSides mirror = collective_sides_of(transposed(upper), given);
  CHECK(mirror.is_one_sided());
  CHECK(mirror.has_below);
  CHECK(mirror.block_size == block_size);
}

TEST_CASE("entries on one side of the diagonal are found, whatever else is zero") {
  check_one_sided({{4, -1, none}, {none, 4, -1}, {none, none, 4}}, 1);
  check_one_sided({{4, -1, none}, {0, 4, -1}, {none, 0, 4}}, 1);
  check_one_sided({{none, none, 2}, {none, none, none}, {none, none, none}}, 1);
}

TEST_CASE("a matrix with both sides, or neither, is not one-sided") {
  CHECK(!collective_sides_of({{7}}).is_one_sided());
  CHECK(!collective_sides_of({{7, none}, {none, 7}}).is_one_sided());
  CHECK(!collective_sides_of({{7, 0}, {none, 7}}).is_one_sided());
  const DiagonalSides sides = collective_sides_of(
      {{4, -1, none, none}, {none, 4, none, none}, {none, none, 4, none}, {none, none, -2, 4}});
  CHECK(sides.has_below);
  CHECK(sides.has_above);
  CHECK(!sides.is_one_sided());
}

/// Blocks of two rows, of which those on the diagonal are whole.
const DenseRows upper_blocks{{4, 1, -1, 0, none, none},      {1, 4, 0, -1, none, none},
                             {none, none, 4, 1, -1, 0},      {none, none, 1, 4, 0, -1},
                             {none, none, none, none, 4, 1}, {none, none, none, none, 1, 4}};

TEST_CASE("entries on one side of whole symmetric blocks are found") {
  check_one_sided(upper_blocks, 2);
  check_one_sided(upper_blocks, 2, 2);
  CHECK(!collective_sides_of(upper_blocks, 1).is_one_sided());
  CHECK(!collective_sides_of(upper_blocks, 3).is_one_sided());
  DenseRows unsymmetric = upper_blocks;
  unsymmetric[3][2] = 1.5;
  CHECK(!collective_sides_of(unsymmetric).is_one_sided());
  CHECK(!collective_sides_of(unsymmetric, 2).is_one_sided());
  DenseRows both = upper_blocks;
  both[5][1] = 1e-30;
  CHECK(!collective_sides_of(both).is_one_sided());
}

TEST_CASE("blocks by chance count only where the file names their size") {
  DenseRows diagonal_block = upper_blocks;
  diagonal_block[0][1] = diagonal_block[1][0] = none;
  CHECK(!collective_sides_of(diagonal_block).is_one_sided());
  check_one_sided(diagonal_block, 2, 2);
}

TEST_CASE("rows that were replaced by those of the identity leave a matrix with both sides") {
  CHECK(!collective_sides_of(
             {{1, none, none, none}, {none, 1, none, none}, {-1, none, 2, -1}, {none, -1, -1, 2}})
             .is_one_sided());
}

}  // namespace
}  // namespace weft::spmv
