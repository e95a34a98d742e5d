#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/order/reordering.h"
#include "spmv/order/row_move.h"
#include "spmv/problems/generator.h"
#include "spmv/problems/random_numbers.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

/// A number of all entries; `number` gives the global number of a local column.
template <class Number>
std::int64_t collective_hash(const Communicator& communicator, const DistributedMatrix& matrix,
                             const Number& number) {
  std::uint64_t sum = 0;
  for (LocalIndex row = 0; row < matrix.rows.row_count; ++row) {
    const auto place = static_cast<std::size_t>(row);
    for (auto k = matrix.rows.row_offsets[place]; k < matrix.rows.row_offsets[place + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      const auto bits = std::bit_cast<std::uint64_t>(matrix.rows.values[entry]);
      sum += random_bits(random_bits(bits, number(row)), number(matrix.rows.columns[entry]));
    }
  }
  return communicator.sum(std::bit_cast<std::int64_t>(sum));
}

bool has_ascending_rows(const DistributedMatrix& matrix) {
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows.row_count); ++row)
    for (auto k = matrix.rows.row_offsets[row] + 1; k < matrix.rows.row_offsets[row + 1]; ++k)
      if (matrix.global_column(matrix.rows.columns[static_cast<std::size_t>(k - 1)]) >=
          matrix.global_column(matrix.rows.columns[static_cast<std::size_t>(k)]))
        return false;
  return true;
}

/// The own entries of 0 1 2 ….
std::vector<double> row_numbers(const RowPartition& partition, int rank) {
  std::vector<double> numbers;
  for (GlobalIndex row = partition.begin(rank); row < partition.end(rank); ++row)
    numbers.push_back(static_cast<double>(row));
  return numbers;
}

const std::vector<std::string> words{"poisson2d:1",
                                     "poisson2d:13x11",
                                     "irregular:3000,nnzr=6",
                                     "anderson3d:11",
                                     "irregular:500,nnzr=120,bandwidth=100",
                                     "irregular:30000,nnzr=30"};

TEST_CASE("a reordered matrix has the entries of the given one at their new places") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(2, comm_thread::WaitPolicy::yield);
  for (const std::string& word : words)
    for (const OrderingChoice choice : {OrderingChoice{true, false, PartitionBy::rows},
                                        OrderingChoice{true, false, PartitionBy::nonzeros},
                                        OrderingChoice{false, true}, OrderingChoice{true, true}}) {
      INFO(word << ", Cuthill-McKee " << choice.has_cuthill_mckee << ", METIS "
                << choice.has_graph_partition);
      const DistributedMatrix given =
          collective_generate(world, team, Problem::parse(word), PartitionBy::rows);
      const RowOrder order = collective_order_rows(world, team, given, choice);
      const DistributedMatrix ordered = collective_reorder(world, team, given, order);
      CHECK(ordered.global_nonzero_count == given.global_nonzero_count);
      CHECK(has_ascending_rows(ordered));
      const auto new_columns = order.collective_new_columns(given);
      CHECK(collective_hash(world, ordered, [&](LocalIndex column) {
              return ordered.global_column(column);
            }) == collective_hash(world, given, [&](LocalIndex column) {
              return new_columns[static_cast<std::size_t>(column)];
            }));
      const auto numbers = row_numbers(given.partition, world.rank());
      const auto there = order.collective_apply(numbers);
      CHECK(std::ssize(there) == ordered.rows.row_count);
      CHECK(order.collective_undo(there) == numbers);
    }
}

TEST_CASE("the reverse Cuthill-McKee order is the same for any number of ranks") {
  const auto world = Communicator::collective_world();
  const auto self = Communicator::self();
  const ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  for (const std::string& word : words) {
    INFO(word);
    const OrderingChoice choice{true, false, PartitionBy::rows};
    const auto given_rows = [&](const Communicator& communicator) {
      const DistributedMatrix matrix =
          collective_generate(communicator, team, Problem::parse(word), PartitionBy::rows);
      return collective_order_rows(communicator, team, matrix, choice)
          .collective_apply(row_numbers(matrix.partition, communicator.rank()));
    };
    const auto own = given_rows(world);
    const auto all = given_rows(self);
    const GlobalIndex before = world.exclusive_prefix_sum(std::ssize(own));
    CHECK(std::equal(own.begin(), own.end(), all.begin() + before));
  }
}

TEST_CASE("rows of a node stay together, in their order") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  const DistributedMatrix given =
      collective_generate(world, team, Problem::parse("elasticity3d:5x4x3"), PartitionBy::rows);
  for (const bool has_graph_partition : {false, true}) {
    CAPTURE(has_graph_partition);
    const RowOrder order = collective_order_rows(
        world, team, given,
        {.has_cuthill_mckee = true, .has_graph_partition = has_graph_partition, .node_size = 3});
    const auto rows = order.given_rows();
    const GlobalIndex first = order.ordered().begin(world.rank());
    bool is_together = true;
    for (std::size_t i = 1; i < rows.size(); ++i)
      if ((first + static_cast<GlobalIndex>(i)) % 3 != 0)
        is_together = is_together && rows[i] == rows[i - 1] + 1;
    CHECK(is_together);
  }
}

TEST_CASE("reverse Cuthill-McKee narrows the band, METIS the halo") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(1, comm_thread::WaitPolicy::yield);
  const DistributedMatrix given =
      collective_generate(world, team, Problem::parse("poisson2d:60x15"), PartitionBy::rows);
  const auto ordered = [&](const OrderingChoice& choice) {
    return collective_reorder(world, team, given,
                              collective_order_rows(world, team, given, choice));
  };
  for (const int threads : {1, 3})
    CHECK(collective_bandwidth(world, ComputeTeam(threads, comm_thread::WaitPolicy::yield),
                               given) == 60);
  CHECK(collective_bandwidth(world, team, ordered({true, false})) <= 16);
  const auto halo = [&](const DistributedMatrix& matrix) {
    return world.sum(std::ssize(matrix.halo_columns));
  };
  if (world.size() > 1) CHECK(halo(ordered({false, true})) < halo(given));
}

}  // namespace
}  // namespace weft::spmv
