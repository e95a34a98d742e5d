#include <memory>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/roll_call.h"
#include "tests/support/mpi_main.h"

namespace weft::tests {
namespace {

using comm_thread::Communicator;
using comm_thread::RollCall;

std::string fault_of_answer(RollCall& roll_call) {
  try {
    roll_call.collective_answer("a solve");
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("ranks that answer go on, as often as they are called") {
  RollCall roll_call(Communicator::collective_world());
  for (int i = 0; i < 5; ++i) CHECK(fault_of_answer(roll_call) == "");
}

TEST_CASE("a rank that leaves is named to those that go on, at each step") {
  const auto world = Communicator::collective_world();
  const int last = world.size() - 1;
  auto roll_call = std::make_unique<RollCall>(world.collective_duplicate());
  CHECK(fault_of_answer(*roll_call) == "");
  if (world.rank() == last) {
    roll_call.reset();
    return;
  }
  for (int i = 0; i < 3; ++i) {
    const std::string fault = fault_of_answer(*roll_call);
    INFO(fault);
    CHECK(fault.find("rank " + std::to_string(last) + " has left the job") == 0);
    CHECK(fault.find("would wait for it in a solve") != std::string::npos);
  }
}

TEST_CASE("of several ranks that leave the first is named, and a farewell does not wait") {
  const auto world = Communicator::collective_world();
  RollCall first(world.collective_duplicate());
  RollCall second(world.collective_duplicate());
  // In an order of its own on each rank.
  if (world.rank() % 2 == 1) {
    first.leave();
    second.leave();
  } else if (world.rank() > 0) {
    second.leave();
    first.leave();
  } else if (world.size() > 1) {
    CHECK(fault_of_answer(second).find("rank 1 has left") == 0);
    CHECK(fault_of_answer(first).find("rank 1 has left") == 0);
  }
}

}  // namespace
}  // namespace weft::tests
