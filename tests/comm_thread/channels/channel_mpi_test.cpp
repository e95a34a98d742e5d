#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/mpi/input_error.h"
#include "tests/comm_thread/channels/channel_support.h"

namespace weft::comm_thread {
namespace {

using tests::exchange;

TEST_CASE("no message is lost, torn, reordered or left behind, on any transport") {
  const auto world = Communicator::collective_world();
  const std::uint64_t count = world.size() <= 2 ? 300 : 70;
  for (const CommThread::Options& options : tests::thread_options()) {
    CommThread comm_thread(options);
    int turn = world.size();  // both deliveries on some number of ranks
    for (const std::string& transport : tests::transport_names())
      for (const int max_in_flight : {1, 3, 64}) {
        const Delivery delivery = turn++ % 2 == 0 ? Delivery::async : Delivery::racy;
        if (comm_thread.has_thread() || max_in_flight == 3)
          exchange(world, comm_thread, transport, delivery, max_in_flight, 37, count);
      }
  }
}

TEST_CASE("messages of no element, of one, and too large for eager sending arrive whole") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread(tests::thread_options().front());
  for (const std::string& transport : tests::transport_names())
    for (const std::size_t elements : {0u, 1u, 40'000u})
      exchange(world, comm_thread, transport, Delivery::async, 2, elements, 20);
}

TEST_CASE("512 messages may be in flight, not one more") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread(tests::thread_options().front());
  for (const std::string& transport : tests::transport_names())
    exchange(world, comm_thread, transport, Delivery::async, 512, 5, 530);
}

TEST_CASE("a channel that nobody uses closes; sets may be open beside each other") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread(tests::thread_options().front());
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::vector<std::unique_ptr<ChannelSet>> sets;
    for (const std::string& transport : tests::transport_names())
      sets.push_back(std::make_unique<ChannelSet>(world, comm_thread,
                                                  tests::ring_specs(world, 3, 4), Delivery::async,
                                                  transport_choice(transport)));
    for (auto& set : sets) {
      const Received nothing = (*set)[0].receive();
      CHECK(nothing.number == 0);
      CHECK(nothing.arrived_count == 0);
      CHECK(nothing.values.size() == 3);
    }
    world.barrier();
    for (auto& set : sets) tests::send_next((*set)[1]);
    for (auto& set : sets) {
      set->collective_close();
      CHECK((*set)[0].receive().number == 1);
      CHECK((*set)[1].receive().number == 0);
    }
  }
}

TEST_CASE("the two ends may send messages of different sizes") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread(tests::thread_options().front());
  std::vector<ChannelSpec> specs = tests::ring_specs(world, 0, 2);
  specs[0].send_count = specs[1].receive_count = 10;
  specs[0].receive_count = specs[1].send_count = 3;
  for (const std::string& transport : tests::transport_names()) {
    ChannelSet channels(world, comm_thread, specs, Delivery::async, transport_choice(transport));
    tests::send_next(channels[0]);
    tests::send_next(channels[1]);
    channels.collective_close();
    CHECK(channels[0].receive().values.size() == 3);
    CHECK(channels[1].receive().values.size() == 10);
    CHECK(channels[0].receive().values[2] == 1);
    CHECK(channels[1].receive().values[9] == 1);
  }
}

TEST_CASE("ends that disagree, and specs out of range, are one error on all ranks") {
  const auto world = Communicator::collective_world();
  CommThread comm_thread(tests::thread_options().front());
  const auto refused = [&](const std::vector<ChannelSpec>& specs, const std::string& transport) {
    try {
      const ChannelSet channels(world, comm_thread, specs, Delivery::async,
                                transport_choice(transport));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  for (const std::string& transport : tests::transport_names()) {
    CAPTURE(transport);
    std::vector<ChannelSpec> specs = tests::ring_specs(world, 3, 4);
    if (world.rank() == world.size() - 1) specs[0].send_count = 5;
    CHECK_THAT(refused(specs, transport), Catch::Contains("at the other end; expected the same"));
    specs = tests::ring_specs(world, 3, 4);
    if (world.rank() == 0) specs[1].max_in_flight = 513;
    CHECK_THAT(refused(specs, transport), Catch::Contains("found 513; expected 1 to 512"));
    specs = tests::ring_specs(world, 3, 4);
    if (world.rank() == 0) specs[1].neighbour = world.size();
    CHECK_THAT(refused(specs, transport), Catch::Contains("channel: neighbour: found"));
    specs = tests::ring_specs(world, 3, 4);
    if (world.rank() == 0) specs[1].send_tag = -1;
    CHECK_THAT(refused(specs, transport), Catch::Contains("found -1; expected 0 to 32767"));
    specs = tests::ring_specs(world, 3, 4);
    if (world.rank() == 0) specs.pop_back();
    CHECK_THAT(refused(specs, transport), Catch::Contains("found 0 other ends"));
    specs = tests::ring_specs(world, 3, 4);
    specs.push_back(specs.back());
    CHECK_THAT(refused(specs, transport), Catch::Contains("found 2 other ends"));
  }
  CHECK_THROWS_AS(transport_choice("pigeon"), InputError);
}

TEST_CASE("every transport has one name") {
  for (const std::string& text : tests::transport_names())
    CHECK(name(transport_choice(text)) == text);
  CHECK(name(transport_choice("one-sided")) == "one-sided:overlap-local");
  CHECK(name(transport_choice("shmem")) == "shmem:put-overlap");
}

}  // namespace
}  // namespace weft::comm_thread
