#include <cstdint>
#include <memory>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "tests/comm_thread/channels/channel_support.h"

namespace weft::comm_thread {
namespace {

/// Sends a number round the ring and adds one to it at every stop.
struct Hop {
  Hop(const Communicator& world, std::int64_t& number, int tag) {
    const int size = world.size();
    Schedule::Builder builder(world, "hop");
    builder.receive(&received, sizeof received, (world.rank() + size - 1) % size, tag);
    builder.send(&number, sizeof number, (world.rank() + 1) % size, tag);
    builder.end_round([this, &number] { number = received + 1; });
    schedule = builder.build();
  }
  std::int64_t received = 0;
  std::unique_ptr<Schedule> schedule;
};

/// Counts how often it is looked at; fails on wish.
class Counter final : public Service {
 public:
  bool progress() override {
    if (++looks == fail_at) throw std::runtime_error("dropped a stitch");
    return false;
  }
  std::uint64_t looks = 0;  // the progressing thread's own until the service is removed
  std::uint64_t fail_at = 0;
};

TEST_CASE("a service is attended to from add to remove, beside posted schedules") {
  const auto world = Communicator::collective_world();
  for (const CommThread::Options& options : tests::thread_options()) {
    CommThread comm_thread(options);
    std::int64_t number = world.rank();
    Hop hop(world, number, 0);
    for (int repetition = 0; repetition < 10; ++repetition) {
      Counter first;
      Counter second;
      comm_thread.add_service(first);
      comm_thread.add_service(second);
      comm_thread.post(*hop.schedule).wait();
      comm_thread.progress_services_here();
      comm_thread.remove_service(first);
      comm_thread.remove_service(second);
      const std::uint64_t looks = first.looks;
      comm_thread.post(*hop.schedule).wait();
      comm_thread.progress_services_here();
      CHECK(first.looks > 0);
      CHECK(second.looks > 0);
      CHECK(first.looks == looks);
    }
  }
}

TEST_CASE("what a service throws reaches its owner, and it is left alone from then on") {
  const auto world = Communicator::collective_world();
  for (const CommThread::Options& options : tests::thread_options()) {
    CommThread comm_thread(options);
    Counter counter;
    counter.fail_at = 3;
    comm_thread.add_service(counter);
    const auto has_failed = [&] {
      counter.rethrow_error();
      return false;
    };
    CHECK_THROWS_WITH(comm_thread.wait_for(has_failed, [] { return "a failure"; }),
                      "dropped a stitch");
    comm_thread.progress_services_here();
    CHECK_THROWS_WITH(comm_thread.remove_service(counter), "dropped a stitch");
    CHECK(counter.looks == 3);
  }
}

}  // namespace
}  // namespace weft::comm_thread
