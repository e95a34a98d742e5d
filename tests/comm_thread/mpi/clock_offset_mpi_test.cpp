#include <catch2/catch.hpp>

#include "comm_thread/mpi/clock_offset.h"
#include "comm_thread/mpi/communicator.h"

using weft::comm_thread::Communicator;

TEST_CASE("ranks of one node have one clock") {
  const auto world = Communicator::collective_world();
  for (int i = 0; i < 2; ++i) CHECK(weft::comm_thread::collective_clock_offset_ns(world) == 0);
}
