#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "tests/comm_thread/channels/channel_support.h"

namespace weft::comm_thread {
namespace {

/// Messages per channel; WEFT_TEST_MESSAGES asks for more (1000000 takes minutes per transport).
/// WEFT_TEST_TRANSPORT picks one.
std::uint64_t message_count(int rank_count) {
  if (const char* text = std::getenv("WEFT_TEST_MESSAGES")) return std::stoull(text);
  return rank_count <= 2 ? 5'000 : 250;
}

/// With fewer the waits for acknowledgements take nearly all of the time where ranks share cores.
constexpr int most_in_flight = 64;

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_CASE("many messages with random delays: none lost, torn or reordered, memory constant") {
  const auto world = Communicator::collective_world();
  const std::uint64_t count = message_count(world.size());
  CommThread comm_thread(tests::thread_options().front());
  const char* wanted = std::getenv("WEFT_TEST_TRANSPORT");
  for (const std::string& transport : tests::transport_names()) {
    if (wanted && transport != wanted) continue;
    for (const Delivery delivery : {Delivery::async, Delivery::racy}) {
      // The transport allocates its own memory with the first messages.
      tests::exchange(world, comm_thread, transport, delivery, most_in_flight, 64, count / 10);
      const std::int64_t before = resident_bytes();
      tests::exchange(world, comm_thread, transport, delivery, most_in_flight, 64, count);
      CAPTURE(transport);
      CHECK(resident_bytes() - before < std::int64_t{8} * 1024 * 1024);
    }
  }
}

}  // namespace
}  // namespace weft::comm_thread
