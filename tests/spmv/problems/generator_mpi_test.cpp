#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/input_error.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/random_numbers.h"
#include "spmv/problems/right_hand_side.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

// A number of one entry; sums of it do not depend on any order.
std::uint64_t hash(GlobalIndex row, GlobalIndex column, double value) {
  return random_bits(random_bits(std::bit_cast<std::uint64_t>(value), row), column);
}

// All rows, made at once without an assembly.
std::uint64_t expected_hash(const Problem& problem, std::int64_t& nonzero_count) {
  std::uint64_t sum = 0;
  nonzero_count = 0;
  visit_rows(
      problem, 0, problem.row_count(),
      [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double> values) {
        nonzero_count += std::ssize(columns);
        for (std::size_t i = 0; i < columns.size(); ++i) sum += hash(row, columns[i], values[i]);
      });
  return sum;
}

std::uint64_t own_hash(const DistributedMatrix& matrix) {
  std::uint64_t sum = 0;
  for (LocalIndex row = 0; row < matrix.rows.row_count; ++row) {
    const auto local_row = static_cast<std::size_t>(row);
    for (auto k = matrix.rows.row_offsets[local_row]; k < matrix.rows.row_offsets[local_row + 1];
         ++k) {
      const auto place = static_cast<std::size_t>(k);
      sum += hash(matrix.first_row() + row, matrix.global_column(matrix.rows.columns[place]),
                  matrix.rows.values[place]);
    }
  }
  return sum;
}

// Wraps around like the unsigned sums above.
std::uint64_t sum_over_ranks(const Communicator& communicator, std::uint64_t value) {
  return std::bit_cast<std::uint64_t>(communicator.sum(std::bit_cast<std::int64_t>(value)));
}

TEST_CASE("generated matrices have the same entries on any number of ranks and threads") {
  const auto world = Communicator::collective_world();
  for (const std::string word :
       {"poisson3d:1", "poisson2d:3x2", "poisson3d:11x12x13", "poisson3d27:12",
        "anisotropic3d:5x7x40,1,0.1,0.01", "irregular:3", "irregular:3000",
        "diffusion3d:11x12x13,lognormal:2", "irregular:30000,nnzr=8",
        "irregular:2000,bandwidth=1999,seed=3", "anderson3d:12", "elasticity3d:7x6x5",
        "convection3d:12,30,-5,1", "holstein-hubbard:sites=4,up=2,down=1,phonons=6",
        "holstein-hubbard:sites=4,up=2,down=1,phonons=6,basis=HMEp", "heisenberg:13,0.5"})
    for (const PartitionBy partition_by : {PartitionBy::rows, PartitionBy::nonzeros})
      for (int threads = 1; threads <= 3; ++threads) {
        const ComputeTeam team(threads, comm_thread::WaitPolicy::yield);
        const Problem problem = Problem::parse(word);
        INFO(word << " with " << threads << " threads");
        const DistributedMatrix matrix = collective_generate(world, team, problem, partition_by);
        std::int64_t nonzero_count = 0;
        const std::uint64_t expected = expected_hash(problem, nonzero_count);
        CHECK(sum_over_ranks(world, own_hash(matrix)) == expected);
        CHECK(matrix.global_nonzero_count == nonzero_count);
        CHECK(matrix.partition.row_count() == problem.row_count());
        CHECK(matrix.rank == world.rank());
      }
}

TEST_CASE("the matrix of a Poisson problem times one is its boundary-one") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  for (const std::string word :
       {"poisson2d:40x30", "poisson3d:11x12x13", "poisson3d27:12", "anisotropic3d:9,1,0.5,0.25",
        "diffusion3d:7x6x5,jumps:3", "diffusion3d:1,constant"}) {
    INFO(word);
    const Problem problem = Problem::parse(word);
    const DistributedMatrix matrix = collective_generate(world, team, problem, PartitionBy::rows);
    std::vector<double> b(static_cast<std::size_t>(matrix.rows.row_count));
    fill(RightHandSide::parse("boundary-one"), problem, matrix.partition, matrix.rank, team, b);
    int wrong = 0;
    for (std::size_t row = 0; row < b.size(); ++row) {
      double sum = 0;
      for (auto k = matrix.rows.row_offsets[row]; k < matrix.rows.row_offsets[row + 1]; ++k)
        sum += matrix.rows.values[static_cast<std::size_t>(k)];
      wrong += sum != b[row];
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("partitioning by nonzeros counts the nonzeros of every block") {
  // The layers z = 0, 1, 2 have about 18, 27 and 18 nonzeros a row: cuts for three or four ranks
  // by nonzeros are not cuts by rows.
  const auto world = Communicator::collective_world();
  const ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  const Problem problem = Problem::parse("poisson3d27:40x40x3");
  const GlobalIndex row_count = problem.row_count();
  std::vector<GlobalIndex> nonzeros(static_cast<std::size_t>(RowPartition::block_count(row_count)));
  visit_rows(problem, 0, row_count,
             [&](GlobalIndex row, std::span<const GlobalIndex> columns, std::span<const double>) {
               nonzeros[static_cast<std::size_t>(row / RowPartition::block_size(row_count))] +=
                   std::ssize(columns);
             });
  const auto by_nonzeros = RowPartition::by_nonzeros(row_count, world.size(), nonzeros);
  const auto by_rows = RowPartition::by_rows(row_count, world.size());
  const auto one = collective_generate(world, team, problem, PartitionBy::nonzeros);
  const auto two = collective_generate(world, team, problem, PartitionBy::rows);
  for (int rank = 0; rank < world.size(); ++rank) {
    CHECK(one.partition.end(rank) == by_nonzeros.end(rank));
    CHECK(two.partition.end(rank) == by_rows.end(rank));
  }
  if (world.size() > 2) CHECK(by_nonzeros.end(0) != by_rows.end(0));
}

TEST_CASE("too many rows per rank are refused on every rank") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  for (const PartitionBy partition_by : {PartitionBy::rows, PartitionBy::nonzeros})
    CHECK_THROWS_AS(
        collective_generate(world, team, Problem::parse("poisson3d:100000"), partition_by),
        comm_thread::InputError);
}

}  // namespace
}  // namespace weft::spmv
