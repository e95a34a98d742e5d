#include "comm_thread/channels/landing.h"

#include <algorithm>
#include <cstdint>
#include <thread>

#include <catch2/catch.hpp>

#include "comm_thread/channels/slot_ring.h"

namespace weft::comm_thread {
namespace {

/// Memory of a landing with its two ends.
struct Field {
  Field(Delivery delivery, std::size_t count)
      : ring(Landing::bytes(delivery, count), 1), memory(ring.slot(1).data()) {
    Landing::initialise(memory, delivery, count);
  }
  SlotRing ring;
  std::byte* memory;
};

TEST_CASE("before the first message a reader gets zeros and no message") {
  for (const Delivery delivery : {Delivery::async, Delivery::racy}) {
    Field field(delivery, 3);
    Landing::Reader reader(field.memory, delivery, 3);
    CHECK_FALSE(reader.has_arrived());
    const Received received = reader.take();
    CHECK(received.number == 0);
    CHECK(received.values.size() == 3);
    CHECK(std::ranges::all_of(received.values, [](double value) { return value == 0; }));
  }
}

TEST_CASE("the reader gets the newest of several messages and how many there were") {
  for (const Delivery delivery : {Delivery::async, Delivery::racy}) {
    Field field(delivery, 2);
    Landing::Writer writer(field.memory, delivery, 2);
    Landing::Reader reader(field.memory, delivery, 2);
    for (std::uint64_t number = 1; number <= 5; ++number) {
      std::ranges::fill(writer.buffer(), static_cast<double>(number));
      writer.land(number, 100 + number);
    }
    CHECK(reader.has_arrived());
    const Received received = reader.take();
    CHECK(received.number == 5);
    CHECK(received.iteration == 105);
    CHECK(received.arrived_count == 5);
    CHECK(received.values[0] == 5);
    CHECK(received.values[1] == 5);
    CHECK_FALSE(reader.has_arrived());
    CHECK(reader.take().arrived_count == 0);
    CHECK(reader.take().values[1] == 5);
  }
}

TEST_CASE("async: what the reader holds stays as it is while messages land") {
  Field field(Delivery::async, 1);
  Landing::Writer writer(field.memory, Delivery::async, 1);
  Landing::Reader reader(field.memory, Delivery::async, 1);
  const double first = 1;
  writer.land(std::span(&first, 1), 1, 1);
  const Received held = reader.take();
  for (std::uint64_t number = 2; number < 10; ++number) {
    const auto value = static_cast<double>(number);
    writer.land(std::span(&value, 1), number, number);
    CHECK(held.values[0] == 1);
  }
  CHECK(reader.take().values[0] == 9);
}

TEST_CASE("a writer and a reader at full speed: async whole, racy element by element") {
  constexpr std::size_t count = 64;
  constexpr std::uint64_t last = 20'000;
  for (const Delivery delivery : {Delivery::async, Delivery::racy}) {
    Field field(delivery, count);
    std::jthread sender([&] {
      Landing::Writer writer(field.memory, delivery, count);
      for (std::uint64_t number = 1; number <= last; ++number) {
        std::ranges::fill(writer.buffer(), static_cast<double>(number));
        writer.land(number, number);
      }
    });
    Landing::Reader reader(field.memory, delivery, count);
    int wrong = 0;
    std::uint64_t arrived = 0;
    for (Received received; received.number < last;) {
      received = reader.take();
      arrived += received.arrived_count;
      const auto number = static_cast<double>(received.number);
      for (const double value : received.values)
        wrong += delivery == Delivery::async ? value != number : value < number;
      std::this_thread::yield();
    }
    CHECK(wrong == 0);
    CHECK(arrived == last);
  }
}

}  // namespace
}  // namespace weft::comm_thread
