#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "tests/support/mpi_main.h"

namespace weft::comm_thread {
namespace {

/// Number of values that `from` sends to `to`: different for every pair, zero for some.
std::int64_t count_between(int from, int to) { return from == to ? 0 : (3 * from + 5 * to) % 4; }

std::vector<HaloNeighbour> neighbours_of(const Communicator& communicator) {
  std::vector<HaloNeighbour> neighbours;
  std::int64_t send_begin = 0;
  std::int64_t receive_begin = 0;
  for (int other = 0; other < communicator.size(); ++other) {
    const std::int64_t sends = count_between(communicator.rank(), other);
    const std::int64_t receives = count_between(other, communicator.rank());
    if (sends == 0 && receives == 0) continue;
    neighbours.push_back({other, send_begin, sends, receive_begin, receives});
    send_begin += sends;
    receive_begin += receives;
  }
  return neighbours;
}

/// A halo exchange in which every number says where it comes from.
class NumberedExchange {
 public:
  NumberedExchange(const Communicator& communicator, int tag)
      : rank_(communicator.rank()),
        neighbours_(neighbours_of(communicator)),
        exchange_(communicator, neighbours_, tag) {}

  HaloExchange<double>& exchange() { return exchange_; }

  void fill(int run) {
    for (const HaloNeighbour& neighbour : neighbours_)
      for (std::int64_t i = 0; i < neighbour.send_count; ++i)
        exchange_.send_buffer()[static_cast<std::size_t>(neighbour.send_begin + i)] =
            number(rank_, neighbour.rank, i, run);
  }

  int wrong_count(int run) {
    int wrong = 0;
    for (const HaloNeighbour& neighbour : neighbours_)
      for (std::int64_t i = 0; i < neighbour.receive_count; ++i)
        wrong += exchange_.received()[static_cast<std::size_t>(neighbour.receive_begin + i)] !=
                 number(neighbour.rank, rank_, i, run);
    return wrong;
  }

 private:
  static double number(int from, int to, std::int64_t i, int run) {
    return from + 10 * to + 100 * static_cast<double>(i) + 1000.0 * run;
  }

  int rank_;
  std::vector<HaloNeighbour> neighbours_;
  HaloExchange<double> exchange_;
};

TEST_CASE("halos arrive on the calling thread, on the communication thread, and without one") {
  const auto world = Communicator::collective_world();
  for (const ThreadLevel level : {tests::session().thread_level(), ThreadLevel::serialized}) {
    CommThread comm_thread({.thread_level = level});
    NumberedExchange numbered(world, 0);
    int wrong = 0;
    for (int run = 0; run < 150; ++run) {
      numbered.fill(run);
      if (run % 3 == 0) {
        numbered.exchange().start_here(comm_thread).wait();
      } else {
        numbered.exchange().post(comm_thread).wait();
      }
      wrong += numbered.wrong_count(run);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("exchanges of two vectors are in flight at once") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  NumberedExchange one(world, 0);
  NumberedExchange two(world, 1);
  int wrong = 0;
  for (int run = 0; run < 50; ++run) {
    one.fill(run);
    two.fill(-run);
    const bool swapped = (run + world.rank()) % 2 == 0;
    const Pending first = (swapped ? two : one).exchange().post(comm_thread);
    const Pending second = (swapped ? one : two).exchange().post(comm_thread);
    second.wait();
    first.wait();
    wrong += one.wrong_count(run) + two.wrong_count(-run);
  }
  CHECK(wrong == 0);
}

TEST_CASE("several vectors of floats travel in the messages of one, ranges counted by rows") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  constexpr int width = 3;
  const auto neighbours = neighbours_of(world);
  std::vector<float> halo;
  std::int64_t sent = 0;
  for (const HaloNeighbour& neighbour : neighbours) {
    halo.resize(halo.size() + width * static_cast<std::size_t>(neighbour.receive_count));
    sent += neighbour.send_count;
  }
  HaloExchange<float> exchange(world, neighbours, std::span(halo), 0, width);
  CHECK(std::ssize(exchange.send_buffer()) == width * sent);
  CHECK(exchange.traffic().sent_bytes == std::ssize(std::as_bytes(exchange.send_buffer())));
  CHECK(exchange.traffic().received_bytes == std::ssize(std::as_bytes(std::span(halo))));
  for (const HaloNeighbour& neighbour : neighbours)
    for (std::int64_t i = 0; i < width * neighbour.send_count; ++i)
      exchange.send_buffer()[static_cast<std::size_t>(width * neighbour.send_begin + i)] =
          static_cast<float>(1000 * world.rank() + i);
  exchange.post(comm_thread).wait();
  for (const HaloNeighbour& neighbour : neighbours)
    for (std::int64_t i = 0; i < width * neighbour.receive_count; ++i)
      CHECK(halo[static_cast<std::size_t>(width * neighbour.receive_begin + i)] ==
            static_cast<float>(1000 * neighbour.rank + i));
}

TEST_CASE("without neighbours there is nothing to exchange") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread({.thread_level = tests::session().thread_level()});
  HaloExchange<double> exchange(world, {}, 0);
  CHECK_FALSE(exchange.has_neighbours());
  CHECK(exchange.send_buffer().empty());
  exchange.start_here(comm_thread).wait();
  exchange.post(comm_thread).wait();
}

}  // namespace
}  // namespace weft::comm_thread
