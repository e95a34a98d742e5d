#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/mpi/sparse_exchange.h"

namespace weft::comm_thread {
namespace {

using Numbers = std::vector<std::int64_t>;

// Existence and contents of every message, computed on every rank.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Numbers message(int source, int destination, int round) {
  const auto number = mix(static_cast<std::uint64_t>((round * 64 + source) * 64 + destination + 1));
  if (number % 3 == 0) return {};
  const std::size_t length = number % 11 == 0 ? 20000 : 1 + number % 5;
  return Numbers(length, (round * 64 + source) * 64 + destination);
}

TEST_CASE("any pattern of messages arrives, 100 times in a row") {
  const auto world = Communicator::collective_world();
  int wrong = 0;
  for (int round = 0; round < 100; ++round) {
    Lists<std::int64_t> outgoing;
    Lists<std::int64_t> expected;
    for (int other = 0; other < world.size(); ++other) {
      if (const Numbers sent = message(world.rank(), other, round); !sent.empty())
        outgoing[other] = sent;
      if (const Numbers received = message(other, world.rank(), round); !received.empty())
        expected[other] = received;
    }
    wrong += collective_sparse_exchange(world, std::move(outgoing)) != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("where nobody sends nothing arrives") {
  const auto world = Communicator::collective_world();
  CHECK(collective_sparse_exchange(world, Lists<double>{}).empty());
}

TEST_CASE("empty messages are not sent, not even to oneself") {
  const auto world = Communicator::collective_world();
  Lists<double> messages;
  for (int rank = 0; rank < world.size(); ++rank) messages[rank] = {};
  CHECK(collective_sparse_exchange(world, messages).empty());
}

TEST_CASE("a message to oneself comes back") {
  const auto world = Communicator::collective_world();
  const Numbers numbers{1, 2, world.rank()};
  const auto received =
      collective_sparse_exchange(world, Lists<std::int64_t>{{world.rank(), numbers}});
  CHECK(received.size() == 1);
  if (received.contains(world.rank())) CHECK(received.at(world.rank()) == numbers);
}

TEST_CASE("all ranks send to one that sends to nobody") {
  const auto world = Communicator::collective_world();
  const int target = world.size() - 1;
  const auto send = [&] {
    Lists<std::int64_t> lists;
    if (world.rank() != target) lists[target] = {world.rank()};
    return lists;
  };
  const auto received = collective_sparse_exchange(world, send());
  CHECK(std::ssize(received) == (world.rank() == target ? target : 0));
  for (const auto& [rank, list] : received) CHECK(list == Numbers{rank});
  const auto joined = collective_exchange_joined(world, send());
  CHECK(std::ssize(joined) == (world.rank() == target ? target : 0));
  for (std::size_t i = 0; i < joined.size(); ++i) CHECK(joined[i] == static_cast<std::int64_t>(i));
}

}  // namespace
}  // namespace weft::comm_thread
