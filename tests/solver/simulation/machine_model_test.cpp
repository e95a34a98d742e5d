#include "solver/simulation/machine_model.h"

#include <array>

#include <catch2/catch.hpp>

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
  CHECK(model.lookahead(false) <= message);
  CHECK(model.lookahead(true) <= message);
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
