#include <string>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/error_agreement.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {
namespace {

std::string message_of(int rank) { return "rank " + std::to_string(rank) + " found an error"; }

TEST_CASE("where all is well nothing is thrown") {
  const auto world = Communicator::collective_world();
  CHECK_NOTHROW(collective_agree_on_error(world, ""));
  bool ran = false;
  CHECK_NOTHROW(collective_attempt(world, [&] { ran = true; }));
  CHECK(ran);
}

TEST_CASE("the error of one rank is thrown on all of them") {
  const auto world = Communicator::collective_world();
  for (int culprit = 0; culprit < world.size(); ++culprit) {
    const bool mine = world.rank() == culprit;
    CHECK_THROWS_WITH(collective_agree_on_error(world, mine ? message_of(culprit) : ""),
                      message_of(culprit));
    CHECK_THROWS_AS(collective_attempt(world,
                                       [&] {
                                         if (mine) throw InputError(message_of(culprit));
                                       }),
                    InputError);
  }
}

TEST_CASE("of several errors the one of the lowest rank is agreed on") {
  const auto world = Communicator::collective_world();
  CHECK_THROWS_WITH(collective_attempt(world, [&] { throw InputError(message_of(world.rank())); }),
                    message_of(0));
  const int first = world.size() / 2;
  CHECK_THROWS_WITH(
      collective_agree_on_error(world, world.rank() >= first ? message_of(world.rank()) : ""),
      message_of(first));
}

}  // namespace
}  // namespace weft::comm_thread
