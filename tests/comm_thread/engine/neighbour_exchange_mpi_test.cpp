#include <cstddef>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

/// Bytes from one rank to another: none for some, beyond every eager limit for few.
std::size_t bytes_between(int from, int to) {
  const int kind = (3 * from + 5 * to) % 7;
  return kind == 6 ? 200'000 : static_cast<std::size_t>(kind);
}

std::byte byte_of(int from, int to, std::size_t i, int run) {
  return static_cast<std::byte>((17 * from + 31 * to + 7 * run + static_cast<int>(i % 251)) % 256);
}

/// An exchange with all ranks, this one too, in which every byte says where it comes from.
class NumberedExchange {
 public:
  NumberedExchange(const Communicator& communicator, int tag) : rank_(communicator.rank()) {
    std::vector<ExchangeNeighbour> neighbours;
    for (int other = 0; other < communicator.size(); ++other) {
      sent_.emplace_back(bytes_between(rank_, other));
      received_.emplace_back(bytes_between(other, rank_));
    }
    for (std::size_t other = 0; other < sent_.size(); ++other)
      neighbours.push_back({static_cast<int>(other), sent_[other], received_[other]});
    exchange_ = std::make_unique<NeighbourExchange>(communicator, "test", neighbours, tag);
  }

  NeighbourExchange& exchange() { return *exchange_; }

  void fill(int run) {
    for (std::size_t other = 0; other < sent_.size(); ++other)
      for (std::size_t i = 0; i < sent_[other].size(); ++i)
        sent_[other][i] = byte_of(rank_, static_cast<int>(other), i, run);
  }

  int wrong_count(int run) const {
    int wrong = 0;
    for (std::size_t other = 0; other < received_.size(); ++other)
      for (std::size_t i = 0; i < received_[other].size(); ++i)
        wrong += received_[other][i] != byte_of(static_cast<int>(other), rank_, i, run);
    return wrong;
  }

 private:
  int rank_;
  std::vector<std::vector<std::byte>> sent_;
  std::vector<std::vector<std::byte>> received_;
  std::unique_ptr<NeighbourExchange> exchange_;
};

TEST_CASE("bytes of every length reach the neighbours they are for, as often as wanted") {
  const auto world = Communicator::collective_world();
  for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
    CommThread comm_thread({.thread_level = level});
    NumberedExchange numbered(world, 0);
    int wrong = 0;
    for (int run = 0; run < 50; ++run) {
      numbered.fill(run);
      NeighbourExchange& exchange = numbered.exchange();
      (run % 3 == 0 ? exchange.start_here(comm_thread) : exchange.post(comm_thread)).wait();
      wrong += numbered.wrong_count(run);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("many neighbour exchanges are in flight at once, posted in any order") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  constexpr int count = 12;
  std::vector<std::unique_ptr<NumberedExchange>> exchanges;
  for (int i = 0; i < count; ++i) exchanges.push_back(std::make_unique<NumberedExchange>(world, i));
  int wrong = 0;
  for (int run = 0; run < 3; ++run) {
    std::vector<Pending> pending;
    for (int i = 0; i < count; ++i) {
      const int which = world.rank() % 2 == 0 ? i : count - 1 - i;
      NumberedExchange& numbered = *exchanges[static_cast<std::size_t>(which)];
      numbered.fill(10 * run + which);
      pending.push_back(numbered.exchange().post(comm_thread));
    }
    for (const Pending& exchange : pending) exchange.wait();
    for (int i = 0; i < count; ++i)
      wrong += exchanges[static_cast<std::size_t>(i)]->wrong_count(10 * run + i);
  }
  CHECK(wrong == 0);
}

TEST_CASE("without neighbours there is nothing to exchange bytes with") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  NeighbourExchange exchange(world, "test", {}, 0);
  CHECK(exchange.is_empty());
  exchange.post(comm_thread).wait();
}

}  // namespace
}  // namespace weft::comm_thread
