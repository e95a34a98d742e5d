// weft_mpi_test: ranks = [1, 2, 3, 4, 5, 8], threads = [1],

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/barrier.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

constexpr int barrier_tag = 0;
constexpr int token_tag = 1;

/// Every rank but `last` sends a message to `last`.
std::unique_ptr<Schedule> build_tokens(const Communicator& communicator, int last) {
  Schedule::Builder builder(communicator, "tokens");
  if (communicator.rank() != last) {
    builder.send(nullptr, 0, last, token_tag);
  } else {
    for (int rank = 0; rank < communicator.size(); ++rank)
      if (rank != last) builder.receive(nullptr, 0, rank, token_tag);
  }
  return builder.build();
}

TEST_CASE("nobody leaves a barrier before the last has entered") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  Barrier barrier(world, barrier_tag);
  int early = 0;
  for (int run = 0; run < 10 * world.size(); ++run) {
    // The last one enters only when all others have entered and looked for long.
    const int last = run % world.size();
    const auto tokens = build_tokens(world, last);
    if (world.rank() == last) {
      comm_thread.post(*tokens).wait();
      barrier.post(comm_thread).wait();
      continue;
    }
    const Pending entered = barrier.post(comm_thread);
    for (int look = 0; look < 500; ++look) {
      early += entered.test();
      relax(WaitPolicy::yield, static_cast<std::uint64_t>(look));
    }
    comm_thread.post(*tokens).wait();
    entered.wait();
  }
  CHECK(early == 0);
}

TEST_CASE("a barrier is used again and again, with and without a communication thread") {
  const auto world = Communicator::collective_world();
  for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
    CommThread comm_thread({.thread_level = level});
    Barrier barrier(world, barrier_tag);
    const int runs = world.size() <= 4 ? 1000 : 100;  // few cores, many threads
    for (int run = 0; run < runs; ++run)
      (run % 2 == 0 ? barrier.post(comm_thread) : barrier.start_here(comm_thread)).wait();
  }
}

TEST_CASE("many barriers are in flight at once, posted in any order") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  constexpr std::size_t count = 40;
  std::vector<std::unique_ptr<Barrier>> barriers;
  for (std::size_t i = 0; i < count; ++i)
    barriers.push_back(std::make_unique<Barrier>(world, static_cast<int>(i)));
  for (int run = 0; run < 5; ++run) {
    std::vector<Pending> pending;
    for (std::size_t i = 0; i < count; ++i)
      pending.push_back(barriers[world.rank() % 2 == 0 ? i : count - 1 - i]->post(comm_thread));
    for (const Pending& entered : pending) entered.wait();
  }
}

}  // namespace
}  // namespace weft::comm_thread
