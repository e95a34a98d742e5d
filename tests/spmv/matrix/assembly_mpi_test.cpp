#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "spmv/matrix/assembly.h"
#include "tests/support/serial_reference.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::ComputeTeam;

struct Entry {
  GlobalIndex row;
  GlobalIndex column;
  double value;
};

DistributedMatrix assemble(const Communicator& communicator, const ComputeTeam& team,
                           GlobalIndex row_count, const std::vector<Entry>& counted,
                           const std::vector<Entry>& inserted) {
  MatrixAssembly assembly(RowPartition::by_rows(row_count, communicator.size()),
                          communicator.rank());
  const auto is_own = [&](const Entry& entry) {
    return entry.row >= assembly.first_row() && entry.row < assembly.end_row();
  };
  for (const Entry& entry : counted)
    if (is_own(entry)) assembly.count(entry.row, entry.column);
  assembly.allocate(team);
  for (const Entry& entry : inserted)
    if (is_own(entry)) assembly.insert(entry.row, entry.column, entry.value);
  return std::move(assembly).collective_finish(communicator, team);
}

/// This rank's rows with global columns, in stored order.
std::vector<std::vector<std::pair<GlobalIndex, double>>> rows_of(const DistributedMatrix& matrix) {
  std::vector<std::vector<std::pair<GlobalIndex, double>>> rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows.row_count); ++row) {
    rows.emplace_back();
    for (auto k = matrix.rows.row_offsets[row]; k < matrix.rows.row_offsets[row + 1]; ++k) {
      const auto place = static_cast<std::size_t>(k);
      rows.back().emplace_back(matrix.global_column(matrix.rows.columns[place]),
                               matrix.rows.values[place]);
    }
  }
  return rows;
}

void check_is(const DistributedMatrix& matrix, const tests::ReferenceMatrix& reference) {
  std::int64_t nonzeros = 0;
  for (const auto& row : reference) nonzeros += std::ssize(row);
  CHECK(matrix.global_nonzero_count == nonzeros);
  const auto rows = rows_of(matrix);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& expected = reference[static_cast<std::size_t>(matrix.first_row()) + row];
    CHECK(rows[row] ==
          std::vector<std::pair<GlobalIndex, double>>(expected.begin(), expected.end()));
  }
}

std::vector<Entry> random_entries(GlobalIndex row_count, int count, tests::ReferenceMatrix& sum) {
  std::mt19937 random(3);
  std::vector<Entry> entries;
  sum.assign(static_cast<std::size_t>(row_count), {});
  for (int i = 0; i < count; ++i) {
    const Entry entry{static_cast<GlobalIndex>(random() % static_cast<std::uint64_t>(row_count)),
                      static_cast<GlobalIndex>(random() % static_cast<std::uint64_t>(row_count)),
                      static_cast<double>(random() % 64) - 32};  // sums are exact
    entries.push_back(entry);
    sum[static_cast<std::size_t>(entry.row)][entry.column] += entry.value;
  }
  return entries;
}

TEST_CASE("entries in any order, duplicates among them, become ordered rows") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  for (const GlobalIndex row_count : {7, 40, 1100}) {
    CAPTURE(row_count);
    tests::ReferenceMatrix reference;
    const auto entries = random_entries(row_count, 4000, reference);
    auto shuffled = entries;
    std::ranges::shuffle(shuffled, std::mt19937(5));
    check_is(assemble(world, team, row_count, entries, entries), reference);
    check_is(assemble(world, team, row_count, shuffled, entries), reference);
    check_is(assemble(world, team, row_count, entries, shuffled), reference);
  }
}

TEST_CASE("duplicates whose sum is rounded have the same sum in any order") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  std::vector<Entry> entries{{1, 4, 1e16}, {1, 4, 1}, {1, 4, -1e16}, {1, 4, 3}, {1, 4, 0.1}};
  const auto order = [](const Entry& a, const Entry& b) { return a.value < b.value; };
  std::ranges::sort(entries, order);
  double expected = 0;
  for (const Entry& entry : entries) expected += entry.value;
  do {
    const auto rows = rows_of(assemble(world, team, 6, entries, entries));
    const auto first = RowPartition::by_rows(6, world.size()).begin(world.rank());
    if (first > 1 || first + std::ssize(rows) <= 1) continue;
    CHECK(rows[static_cast<std::size_t>(1 - first)] ==
          std::vector<std::pair<GlobalIndex, double>>{{4, expected}});
  } while (std::ranges::next_permutation(entries, order).found);
}

TEST_CASE("halo columns are those of others, ascending and once each") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  tests::ReferenceMatrix reference;
  const auto entries = random_entries(40, 300, reference);
  const DistributedMatrix matrix = assemble(world, team, 40, entries, entries);
  std::vector<GlobalIndex> expected;
  for (GlobalIndex column = 0; column < 40; ++column) {
    bool is_used = false;
    for (GlobalIndex row = matrix.first_row(); row < matrix.partition.end(matrix.rank); ++row)
      is_used = is_used || reference[static_cast<std::size_t>(row)].contains(column);
    if (is_used && matrix.partition.owner(column) != world.rank()) expected.push_back(column);
  }
  CHECK(matrix.halo_columns == expected);
}

TEST_CASE("the six rows of the example have the columns of the picture") {
  const auto world = Communicator::collective_world();
  if (world.size() != 2) return;
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  const std::vector<Entry> entries{{3, 2, 1}, {3, 3, 2}, {3, 4, 3}, {4, 3, 4},
                                   {4, 4, 5}, {4, 5, 6}, {5, 4, 7}, {5, 5, 8}};
  const DistributedMatrix matrix = assemble(world, team, 6, entries, entries);
  if (world.rank() == 0) {
    CHECK(matrix.halo_columns.empty());
    CHECK(matrix.rows.nonzero_count() == 0);
  } else {
    CHECK(matrix.halo_columns == std::vector<GlobalIndex>{2});
    const auto columns = matrix.rows.columns.span();
    CHECK(std::vector<LocalIndex>(columns.begin(), columns.begin() + 8) ==
          std::vector<LocalIndex>{3, 0, 1, 0, 1, 2, 1, 2});
  }
}

TEST_CASE("rows without entries, and a matrix without any, are possible") {
  const auto world = Communicator::collective_world();
  const ComputeTeam team(tests::thread_count(), comm_thread::WaitPolicy::yield);
  check_is(assemble(world, team, 20, {}, {}), tests::ReferenceMatrix(20));
  tests::ReferenceMatrix one(20);
  one[19][0] = 2.5;
  check_is(assemble(world, team, 20, {{19, 0, 2.5}}, {{19, 0, 2.5}}), one);
}

}  // namespace
}  // namespace weft::spmv
