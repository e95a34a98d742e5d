#include "solver/simulation/machine_model.h"

#include <array>

#include <catch2/catch.hpp>

#include "comm_thread/channels/transport_choice.h"
#include "solver/simulation/part_shape.h"

namespace weft::solver {
namespace {

using comm_thread::SimulatedRoute;

/// A byte takes a second on the link, and nothing else takes time.
Machine link_alone() {
  Machine machine;
  machine.latency = 0;
  machine.overhead = 0;
  machine.overhead_per_byte = 0;
  machine.gap = 0;
  machine.gap_per_byte = 1;
  machine.ranks_per_node = 1;
  return machine;
}

constexpr SimulatedRoute there{0, 1, 0};
constexpr SimulatedRoute from_another{2, 1, 0};

}  // namespace

TEST_CASE("a link takes one message after the other, at its rate") {
  MachineModel model(link_alone(), 3, 1);
  CHECK(model.arrival(there, 4, model.departure(there, 4, 0)) == 4);
  CHECK(model.arrival(there, 4, model.departure(there, 4, 1)) == 8);
  CHECK(model.arrival(from_another, 4, model.departure(from_another, 4, 5)) == 12);
}

TEST_CASE("an idle link passes on a burst at once, and then keeps its rate") {
  Machine machine = link_alone();
  machine.burst_bytes = 10;
  MachineModel model(machine, 3, 1);
  CHECK(model.undisturbed_arrival(there, 8, 3) == 3);
  CHECK(model.undisturbed_arrival(there, 12, 3) == 5);
  CHECK(model.departure(there, 8, 0) == 0);
  CHECK(model.departure(there, 8, 0) == 6);  // 16 bytes, 10 of which are free
  CHECK(model.departure(there, 8, 100) == 100);
  CHECK(model.arrival(there, 8, 0) == 0);
  CHECK(model.arrival(from_another, 8, 0) == 6);
}

TEST_CASE("nothing of another node matters sooner than the lookahead, with a burst neither") {
  Machine machine = link_alone();
  machine.latency = 2;
  machine.gap = 3;
  machine.burst_bytes = 10;
  MachineModel model(machine, 3, 1);
  const double message = model.arrival(there, 0, model.departure(there, 0, 0));
  CHECK(message == 2);
  for (const char* const transport : {"two-sided", "one-sided", "one-sided:flush", "shmem"}) {
    model.carry_channels(comm_thread::transport_choice(transport));
    CHECK(model.lookahead() <= message);
    CHECK(model.lookahead() > 0);
  }
}

TEST_CASE("a put costs its target no overhead, and what its variant announces") {
  Machine machine = link_alone();
  machine.gap_per_byte = 0;
  machine.latency = 100;
  machine.overhead = 10;
  machine.gap = 3;
  machine.overhead_per_byte = 1;
  machine.poll_interval = 1000;
  constexpr SimulatedRoute channel{0, 1, MachineModel::channel_tag};
  const auto way = [&](const char* transport) {
    MachineModel model(machine, 2, 1);
    model.carry_channels(comm_thread::transport_choice(transport));
    CHECK(model.arrival(there, 4, 0) == 100 + 10 + 4 + 1000);  // schedules as ever
    return model.arrival(channel, 4, 200) - 200 - 1000;
  };
  CHECK(way("two-sided") == 100 + 10 + 4);
  CHECK(way("one-sided") == 100 + 4);
  CHECK(way("one-sided:flush-local") == 100 + 4);
  CHECK(way("one-sided:flush") == 100 + 100 + 10 + 10 + 3 + 100 + 4);
  CHECK(way("one-sided:overlap") == way("one-sided:flush") + 1000);
  CHECK(way("shmem") == 100 + 10 + 3 + 4);
}

TEST_CASE("the interior of a part is what no neighbour's values reach") {
  const PartShape shape({3, 1, 1}, 4);
  const std::array<double, 3> expected{0.75, 0.5, 0.75};
  for (int rank = 0; rank < 3; ++rank)
    CHECK(shape.interior_fraction(rank, 4) == expected.at(static_cast<std::size_t>(rank)));
  CHECK(PartShape({1, 1, 1}, 4).interior_fraction(0, 10) == 1);
  CHECK(PartShape({3, 3, 3}, 4).interior_fraction(13, 10) == Approx(0.512));
  CHECK(shape.interior_fraction(1, 1) == 0);
}

}  // namespace weft::solver
