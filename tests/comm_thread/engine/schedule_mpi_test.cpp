#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

TEST_CASE("a schedule of one round exchanges with everybody, as often as wanted") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  const int size = world.size();
  std::vector<std::int64_t> sent(static_cast<std::size_t>(size));
  std::vector<std::int64_t> received(static_cast<std::size_t>(size));
  Schedule::Builder builder(world, "all to all");
  for (int rank = 0; rank < size; ++rank) {
    builder.receive(&received[static_cast<std::size_t>(rank)], sizeof(std::int64_t), rank);
    builder.send(&sent[static_cast<std::size_t>(rank)], sizeof(std::int64_t), rank);
  }
  const auto schedule = builder.build();
  CHECK(schedule->name() == "all to all");
  CHECK_FALSE(schedule->is_empty());
  int wrong = 0;
  for (int run = 0; run < 100; ++run) {
    for (int rank = 0; rank < size; ++rank)
      sent[static_cast<std::size_t>(rank)] = run * 100 + world.rank() * 10 + rank;
    // Both ways in turn: a schedule belongs to neither.
    (run % 3 == 0 ? comm_thread.post(*schedule) : comm_thread.start_here(*schedule)).wait();
    for (int rank = 0; rank < size; ++rank)
      wrong += received[static_cast<std::size_t>(rank)] != run * 100 + rank * 10 + world.rank();
  }
  CHECK(wrong == 0);
  CHECK(schedule->posted_runs() == 100);
}

TEST_CASE("a schedule without operations is empty") {
  const auto world = Communicator::collective_world();
  const auto schedule = Schedule::Builder(world, "nothing").build();
  CHECK(schedule->is_empty());
  CHECK(schedule->missing().empty());
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  comm_thread.start_here(*schedule).wait();
}

}  // namespace
}  // namespace weft::comm_thread
