#include <signal.h>

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/channels/openshmem_transport.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

using Catch::Matchers::Contains;
using SignalHandler = void (*)(int);

LinkPlan link_to_self(const Communicator& world, std::size_t bytes) {
  return {
      .neighbour = world.rank(), .send_bytes = bytes, .receive_bytes = bytes, .slot_count = 512};
}

SignalHandler current_handler(int signal) {
  struct sigaction action{};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

// The first in this file, as OpenSHMEM starts only once.
TEST_CASE("OpenSHMEM leaves the program its signals") {
  if (!has_openshmem()) return;
  const auto world = Communicator::collective_world();
  const SignalHandler terminate = current_handler(SIGTERM);
  const SignalHandler user = current_handler(SIGUSR1);
  collective_make_openshmem_transport(world, {}, OpenShmemVariant::put)->collective_close();
  CHECK(current_handler(SIGTERM) == terminate);
  CHECK(current_handler(SIGUSR1) == user);
}

TEST_CASE("a build without OpenSHMEM says how to get one with it") {
  if (has_openshmem()) return;
  const auto world = Communicator::collective_world();
  CHECK_THROWS_WITH(collective_make_openshmem_transport(world, {}, OpenShmemVariant::put),
                    Contains("no OpenSHMEM") && Contains("--config=oshmem"));
}

TEST_CASE("too little symmetric memory is an error that names the setting, on all ranks") {
  if (!has_openshmem()) return;
  const auto world = Communicator::collective_world();
  // One rank alone needs more memory than there is.
  const std::vector plans{link_to_self(world, world.is_root() ? 10'000'000 : 1000)};
  for (const auto variant : {OpenShmemVariant::put, OpenShmemVariant::put_overlap}) {
    CHECK_THROWS_WITH(collective_make_openshmem_transport(world, plans, variant),
                      Contains("SHMEM_SYMMETRIC_SIZE"));
    const std::vector modest{link_to_self(world, 1000)};
    collective_make_openshmem_transport(world, modest, variant)->collective_close();
  }
}

TEST_CASE("links that are closed give their symmetric memory back") {
  if (!has_openshmem()) return;
  const auto world = Communicator::collective_world();
  const std::vector plans{link_to_self(world, 200'000)};  // 100 MB of 256
  for (int time = 0; time < 5; ++time)
    collective_make_openshmem_transport(world, plans, OpenShmemVariant::put)->collective_close();
}

}  // namespace
}  // namespace weft::comm_thread
