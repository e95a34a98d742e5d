#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/crew.h"
#include "spmv/rows/ask_owners.h"
#include "spmv/rows/halo_plan.h"
#include "spmv/rows/halo_vector.h"
#include "spmv/rows/redistribution.h"
#include "tests/support/mpi_main.h"
#include "tests/support/thread_count.h"

namespace weft::spmv {
namespace {

using comm_thread::Communicator;
using comm_thread::Crew;
using comm_thread::TeamThread;

/// Ranks, a communication thread and a team.
struct Everyone {
  Communicator world = Communicator::collective_world();
  comm_thread::CommThread comm_thread{{.thread_level = tests::session().thread_level()}};
  comm_thread::ComputeTeam team{tests::thread_count(), comm_thread::WaitPolicy::yield};
  Crew crew{world, comm_thread, team};
};

/// Rank r has `first` + r rows.
RowPartition growing(const Communicator& world, GlobalIndex first) {
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < world.size(); ++rank) sizes.push_back(first + rank);
  return RowPartition::by_sizes(sizes);
}

/// As many rows, the last rank having the fewest.
RowPartition falling(const Communicator& world, GlobalIndex first) {
  std::vector<GlobalIndex> sizes;
  for (int rank = 0; rank < world.size(); ++rank) sizes.push_back(first + world.size() - 1 - rank);
  return RowPartition::by_sizes(sizes);
}

/// One line or piece for each row: what travels stays in the order of rows.
template <class Value>
Redistribution<Value> redistribution(const Crew& crew, const RowPartition& one,
                                     const RowPartition& other) {
  const int rank = crew.communicator().rank();
  const auto place = [&](const RowPartition& rows, GlobalIndex row) {
    return static_cast<std::size_t>(row - rows.begin(rank));
  };
  std::vector<typename Redistribution<Value>::Line> kept;
  comm_thread::Lists<typename Redistribution<Value>::Piece> leaving;
  comm_thread::Lists<typename Redistribution<Value>::Piece> arriving;
  for (GlobalIndex row = 0; row < one.row_count(); ++row) {
    const int from = one.owner(row);
    const int to = other.owner(row);
    if (from == rank && to == rank)
      kept.push_back({place(one, row), place(other, row), 1});
    else if (from == rank)
      leaving[to].push_back({place(one, row), 1});
    else if (to == rank)
      arriving[from].push_back({place(other, row), 1});
  }
  Redistribution<Value> made(crew, kept, leaving, arriving, "test");
  crew.communicator().barrier();  // both ends of every pair exist
  return made;
}

TEMPLATE_TEST_CASE("a vector goes to other owners and comes back", "", float, double) {
  Everyone all;
  const RowPartition one = growing(all.world, 3);
  const RowPartition other = falling(all.world, 3);
  auto moved = redistribution<TestType>(all.crew, one, other);
  const int rank = all.world.rank();
  std::vector<double> here(static_cast<std::size_t>(one.size(rank)));
  for (std::size_t i = 0; i < here.size(); ++i)
    here[i] = static_cast<double>(one.begin(rank)) + static_cast<double>(i);
  std::vector<TestType> there(static_cast<std::size_t>(other.size(rank)), TestType{-1});
  std::vector<double> back(here.size(), -1);
  for (int round = 0; round < 3; ++round) {
    all.team.run([&](const TeamThread& thread) {
      moved.collective_there(thread, here.data(), 2, there.data());
      moved.collective_back(thread, there.data(), 0.5, back.data());
    });
    for (std::size_t i = 0; i < there.size(); ++i)
      CHECK(there[i] == static_cast<TestType>(
                            2 * (other.begin(rank) + static_cast<GlobalIndex>(i) + 100 * round)));
    CHECK(back == here);
    for (double& value : here) value += 100;
  }
}

TEMPLATE_TEST_CASE("several vectors side by side get the halo of one plan", "", float, double) {
  Everyone all;
  const RowPartition rows = growing(all.world, 4);
  const int rank = all.world.rank();
  // The last row before and the first row after this rank's.
  std::vector<GlobalIndex> columns;
  if (rank > 0) columns.push_back(rows.begin(rank) - 1);
  if (rank + 1 < all.world.size()) columns.push_back(rows.end(rank));
  const HaloPlan plan = collective_build_halo_plan(all.world, rows, rank, columns);
  std::vector<LocalIndex> thread_rows{0};
  for (int thread = 0; thread < all.team.thread_count(); ++thread)
    thread_rows.push_back(static_cast<LocalIndex>(
        comm_thread::share_of(rows.size(rank), thread, all.team.thread_count()).end));
  for (const int width : {1, 3}) {
    const auto value = [&](GlobalIndex row, int vector) {
      return static_cast<TestType>(10 * row + vector);
    };
    HaloVector<TestType> x(all.crew, plan, thread_rows, width);
    all.world.barrier();  // both ends of every pair exist
    CHECK(std::ssize(x.own()) == width * rows.size(rank));
    CHECK(std::ssize(x.halo()) == width * std::ssize(columns));
    CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % 64 == 0);
    CHECK(std::ranges::count(x.own(), TestType{0}) == std::ssize(x.own()));
    all.team.run([&](const TeamThread& thread) {
      const auto index = static_cast<std::size_t>(thread.index);
      for (LocalIndex row = thread_rows[index]; row < thread_rows[index + 1]; ++row)
        for (int vector = 0; vector < width; ++vector)
          x.values()[row * width + vector] = value(rows.begin(rank) + row, vector);
      x.pack(thread.index);
    });
    if (x.exchange().has_neighbours()) x.exchange().post(all.comm_thread).wait();
    for (std::size_t i = 0; i < columns.size(); ++i)
      for (int vector = 0; vector < width; ++vector)
        CHECK(x.halo()[i * static_cast<std::size_t>(width) + static_cast<std::size_t>(vector)] ==
              value(columns[i], vector));
  }
}

TEST_CASE("owners answer in the order of the rows asked for, with any number of items") {
  const auto world = Communicator::collective_world();
  const RowPartition rows = growing(world, 2);
  std::vector<GlobalIndex> asked;
  std::vector<GlobalIndex> expected;
  for (GlobalIndex row = 0; row < rows.row_count(); row += 2) {
    asked.push_back(row);
    for (GlobalIndex item = 0; item < row % 3; ++item) expected.push_back(100 * row + item);
  }
  std::vector<GlobalIndex> found;
  collective_ask_owners<GlobalIndex>(
      world, rows, asked,
      [&](GlobalIndex row, std::vector<GlobalIndex>& items) {
        CHECK(rows.owner(row) == world.rank());
        for (GlobalIndex item = 0; item < row % 3; ++item) items.push_back(100 * row + item);
      },
      [&](GlobalIndex item) { found.push_back(item); });
  CHECK(found == expected);
}

}  // namespace
}  // namespace weft::spmv
