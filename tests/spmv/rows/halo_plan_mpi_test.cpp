#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/rows/halo_plan.h"
#include "tests/support/serial_reference.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;
using comm_thread::HaloNeighbour;

HaloPlan plan_of(const Communicator& communicator, const tests::ReferenceMatrix& reference,
                 std::vector<GlobalIndex>& halo_columns) {
  const ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  const DistributedMatrix matrix = tests::collective_distribute(
      communicator, team, reference,
      RowPartition::by_rows(std::ssize(reference), communicator.size()));
  halo_columns = matrix.halo_columns;
  return collective_build_halo_plan(communicator, matrix.partition, matrix.rank, halo_columns);
}

bool contains(const tests::ReferenceMatrix& reference, const RowPartition& partition, int rank,
              GlobalIndex column) {
  for (GlobalIndex row = partition.begin(rank); row < partition.end(rank); ++row)
    if (reference[static_cast<std::size_t>(row)].contains(column)) return true;
  return false;
}

/// Compares with the plan computed from the whole matrix.
void check_plan(const Communicator& communicator, const tests::ReferenceMatrix& reference) {
  std::vector<GlobalIndex> halo_columns;
  const HaloPlan plan = plan_of(communicator, reference, halo_columns);
  const auto partition = RowPartition::by_rows(std::ssize(reference), communicator.size());
  const int rank = communicator.rank();
  std::vector<LocalIndex> send_list;
  std::int64_t received = 0;
  std::size_t next = 0;
  for (int other = 0; other < communicator.size(); ++other) {
    if (other == rank) continue;
    const auto sends_before = std::ssize(send_list);
    for (GlobalIndex own = partition.begin(rank); own < partition.end(rank); ++own)
      if (contains(reference, partition, other, own))
        send_list.push_back(static_cast<LocalIndex>(own - partition.begin(rank)));
    std::int64_t receives = 0;
    for (GlobalIndex column = partition.begin(other); column < partition.end(other); ++column)
      receives += contains(reference, partition, rank, column);
    const auto sends = std::ssize(send_list) - sends_before;
    if (sends == 0 && receives == 0) continue;
    CHECK(next < plan.neighbours.size());
    if (next >= plan.neighbours.size()) break;
    const HaloNeighbour& neighbour = plan.neighbours[next++];
    CHECK(neighbour.rank == other);
    CHECK(neighbour.send_count == sends);
    CHECK(neighbour.receive_count == receives);
    if (sends > 0) CHECK(neighbour.send_begin == sends_before);
    if (receives > 0) CHECK(neighbour.receive_begin == received);
    received += receives;
  }
  CHECK(next == plan.neighbours.size());
  CHECK(plan.send_list == send_list);
  CHECK(plan.halo_count == received);
  CHECK(plan.halo_count == std::ssize(halo_columns));
}

TEST_CASE("a symmetric pattern gives plans that fit together") {
  const auto world = Communicator::collective_world();
  check_plan(world, tests::reference_matrix(Problem::parse("poisson2d:9x7")));
  check_plan(world, tests::reference_matrix(Problem::parse("poisson3d27:11")));
  check_plan(world, tests::reference_matrix(Problem::parse("irregular:300,bandwidth=299")));
}

TEST_CASE("an unsymmetric pattern gives neighbours that only send or only receive") {
  const auto world = Communicator::collective_world();
  tests::ReferenceMatrix upper(12);
  for (GlobalIndex row = 0; row < 12; ++row)
    for (GlobalIndex column = row; column < 12; column += 5)
      upper[static_cast<std::size_t>(row)][column] = 1;
  check_plan(world, upper);
}

TEST_CASE("a matrix of blocks without couplings has no neighbours") {
  const auto world = Communicator::collective_world();
  tests::ReferenceMatrix diagonal(9);
  for (GlobalIndex row = 0; row < 9; ++row) diagonal[static_cast<std::size_t>(row)][row] = 2;
  std::vector<GlobalIndex> halo_columns;
  const HaloPlan plan = plan_of(world, diagonal, halo_columns);
  CHECK(plan.neighbours.empty());
  CHECK(plan.send_list.empty());
  CHECK(plan.halo_count == 0);
}

TEST_CASE("ranks without rows take part") {
  const auto world = Communicator::collective_world();
  tests::ReferenceMatrix dense(2);
  for (auto& row : dense) row = {{0, 1.0}, {1, 2.0}};
  check_plan(world, dense);
}

TEST_CASE("the six rows of the example need one entry of each other") {
  const auto world = Communicator::collective_world();
  if (world.size() != 2) return;
  tests::ReferenceMatrix example(6);
  for (GlobalIndex row = 0; row < 6; ++row)
    for (GlobalIndex column = std::max<GlobalIndex>(0, row - 1);
         column < std::min<GlobalIndex>(6, row + 2); ++column)
      example[static_cast<std::size_t>(row)][column] = 1;
  std::vector<GlobalIndex> halo_columns;
  const HaloPlan plan = plan_of(world, example, halo_columns);
  CHECK(plan.neighbours.size() == 1);
  CHECK(plan.halo_count == 1);
  CHECK(plan.send_list == std::vector<LocalIndex>{world.rank() == 0 ? 2 : 0});
}

}  // namespace
}  // namespace weft::spmv
