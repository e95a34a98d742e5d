#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/channels/channel_set.h"
#include "comm_thread/waiting/team_barrier.h"
#include "tests/support/mpi_main.h"
#include "tests/support/transport_names.h"

namespace weft::tests {

/// With a communication thread, and without one.
inline std::vector<comm_thread::CommThread::Options> thread_options() {
  comm_thread::CommThread::Options with;
  with.thread_level = session().thread_level();
  comm_thread::CommThread::Options without;
  without.thread_level = comm_thread::ThreadLevel::serialized;
  return {with, without};
}

/// Channels to the rank before (0) and after (1) in a ring, which may be the same rank or this one.
inline std::vector<comm_thread::ChannelSpec> ring_specs(const comm_thread::Communicator& world,
                                                        std::size_t count, int max_in_flight) {
  const int size = world.size();
  comm_thread::ChannelSpec before{.neighbour = (world.rank() + size - 1) % size,
                                  .send_count = count,
                                  .receive_count = count,
                                  .max_in_flight = max_in_flight,
                                  .send_tag = 1,
                                  .receive_tag = 2};
  comm_thread::ChannelSpec after = before;
  after.neighbour = (world.rank() + 1) % size;
  std::swap(after.send_tag, after.receive_tag);
  return {before, after};
}

/// Follows one channel and checks everything that it delivers.
class Listener {
 public:
  void listen(comm_thread::Channel& channel, comm_thread::Delivery delivery) {
    const comm_thread::Received received = channel.receive();
    if (received.number < number_) ++reordered_;
    number_ = received.number;
    arrived_count_ += received.arrived_count;
    if (delivery == comm_thread::Delivery::async) {
      const auto expected = static_cast<double>(received.number);
      if (std::ranges::any_of(received.values, [=](double v) { return v != expected; })) ++torn_;
      if (received.iteration != iteration_of(received.number)) ++mislabelled_;
    } else {
      newest_.resize(received.values.size());
      for (std::size_t i = 0; i < newest_.size(); ++i) {
        const double value = received.values[i];
        if (value != static_cast<double>(static_cast<std::uint64_t>(value))) ++torn_;
        if (value < newest_[i] || value < static_cast<double>(received.number)) ++reordered_;
        newest_[i] = value;
      }
      if (received.iteration < iteration_of(received.number)) ++mislabelled_;
    }
  }

  /// The iteration that senders name with message `number`.
  static std::uint64_t iteration_of(std::uint64_t number) { return number * 10; }

  std::uint64_t number() const { return number_; }
  std::uint64_t arrived_count() const { return arrived_count_; }
  int faults() const { return torn_ + reordered_ + mislabelled_; }

 private:
  std::uint64_t number_ = 0;
  std::uint64_t arrived_count_ = 0;
  int torn_ = 0;
  int reordered_ = 0;
  int mislabelled_ = 0;
  std::vector<double> newest_;
};

/// Sends the next message if there is room: its number in every element.
inline bool send_next(comm_thread::Channel& channel) {
  if (!channel.can_send()) return false;
  const std::uint64_t number = channel.sent_count() + 1;
  std::ranges::fill(channel.outgoing(), static_cast<double>(number));
  return channel.send(Listener::iteration_of(number));
}

/// A pause now and then, so that ranks drift apart.
inline void maybe_pause(std::mt19937& random) {
  const auto draw = random() % 64;
  if (draw == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
}

/// Sends `count` messages to both neighbours of the ring, listens meanwhile, and checks that
/// nothing was lost, torn, reordered or left behind.
inline void exchange(const comm_thread::Communicator& world, comm_thread::CommThread& comm_thread,
                     const std::string& transport, comm_thread::Delivery delivery,
                     int max_in_flight, std::size_t elements, std::uint64_t count) {
  CAPTURE(transport, static_cast<int>(delivery), max_in_flight, elements);
  comm_thread::ChannelSet channels(world, comm_thread, ring_specs(world, elements, max_in_flight),
                                   delivery, comm_thread::transport_choice(transport));
  std::mt19937 random(static_cast<unsigned>(world.rank()));
  std::array<Listener, 2> listeners;
  std::uint64_t too_many = 0;
  std::uint64_t fruitless = 0;
  while (channels[0].sent_count() < count || channels[1].sent_count() < count) {
    bool moved = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (channels[i].sent_count() < count) moved = send_next(channels[i]) || moved;
      too_many += channels[i].in_flight() > static_cast<std::uint64_t>(max_in_flight);
      if (channels[i].can_receive()) {
        listeners[i].listen(channels[i], delivery);
        moved = true;
      }
    }
    fruitless = moved ? 0 : fruitless + 1;
    if (!moved) comm_thread::relax(comm_thread::WaitPolicy::yield, fruitless);
    maybe_pause(random);
  }
  channels.collective_close();
  for (std::size_t i = 0; i < 2; ++i) {
    listeners[i].listen(channels[i], delivery);
    CHECK(listeners[i].number() == count);
    CHECK(listeners[i].arrived_count() == count);
    CHECK(listeners[i].faults() == 0);
    CHECK(channels[i].in_flight() == 0);
  }
  CHECK(too_many == 0);
}

}  // namespace weft::tests
