#include "comm_thread/placement/placement.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/comm_thread/placement/placement_support.h"

namespace weft::comm_thread {
namespace {

// Core of the communication thread
// --------------------------------------------------------------

TEST_CASE("two cores and one rank: all cores compute, the communication thread shares the last") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const Placement plan = plan_placement(machine, free_ranks(1, 0));
  CHECK(plan.compute_pus == Pus{0, 1});
  CHECK(plan.communication_pu == 1);
  CHECK(plan.comm_core == CommCore::shared_core);
  CHECK_FALSE(plan.oversubscribed);
  CHECK_FALSE(has_trouble(plan));
}

TEST_CASE("two cores, one rank, one thread: the communication thread has a core of its own") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const Placement plan = plan_placement(machine, free_ranks(1, 1));
  CHECK(plan.compute_pus == Pus{0});
  CHECK(plan.communication_pu == 1);
  CHECK(plan.comm_core == CommCore::own_core);
}

TEST_CASE("two cores and two ranks: one core each") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<Placement> plans = plan_node(machine, free_ranks(2, 0));
  CHECK(plans[0].compute_pus == Pus{0});
  CHECK(plans[1].compute_pus == Pus{1});
  CHECK(plans[1].comm_core == CommCore::shared_core);
  CHECK_FALSE(has_trouble(plans[0]));
}

TEST_CASE("an own core is preferred to a free hyper-thread") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const Placement plan = plan_placement(machine, free_ranks(2, 7));
  CHECK(plan.compute_pus == Pus{0, 2, 4, 6, 8, 10, 12});
  CHECK(plan.communication_pu == 14);
  CHECK(plan.comm_core == CommCore::own_core);
}

TEST_CASE("a free hyper-thread, of the last compute thread's core, is preferred to sharing") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const Placement plan = plan_placement(machine, free_ranks(2, 8));
  CHECK(plan.compute_pus == Pus{0, 2, 4, 6, 8, 10, 12, 14});
  CHECK(plan.communication_pu == 15);
  CHECK(plan.comm_core == CommCore::hyper_thread);
}

TEST_CASE("without a free hyper-thread the communication thread shares with the last thread") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const Placement plan = plan_placement(machine, free_ranks(2, 16));
  CHECK(plan.compute_pus.size() == 16);
  CHECK(plan.compute_pus[8] == 1);
  CHECK(plan.compute_pus.back() == 15);
  CHECK(plan.communication_pu == 15);
  CHECK(plan.comm_core == CommCore::shared_core);
  CHECK_FALSE(plan.oversubscribed);
  CHECK(has(plan, FindingSeverity::note, "hyper-threads compute"));
}

TEST_CASE("more threads than cores use hyper-threads, and the communication thread a free one") {
  const Topology machine = Topology::from_synthetic("core:2 pu:2");
  const Placement plan = plan_placement(machine, free_ranks(1, 3));
  CHECK(plan.compute_pus == Pus{0, 2, 1});
  CHECK(plan.communication_pu == 3);
  CHECK(plan.comm_core == CommCore::hyper_thread);
}

TEST_CASE("with all cores wanted, hyper-threads let every core compute") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const Placement plan = plan_placement(machine, free_ranks(2, 0));
  CHECK(plan.compute_pus.size() == 8);
  CHECK(plan.comm_core == CommCore::hyper_thread);
}

TEST_CASE("without hyper-threads a core is left to the communication thread from 8 cores on") {
  const Topology seven = Topology::from_synthetic("core:7 pu:1");
  const Topology eight = Topology::from_synthetic("core:8 pu:1");
  CHECK(plan_placement(seven, free_ranks(1, 0)).compute_pus.size() == 7);
  CHECK(plan_placement(seven, free_ranks(1, 0)).comm_core == CommCore::shared_core);
  const Placement plan = plan_placement(eight, free_ranks(1, 0));
  CHECK(plan.compute_pus == range(0, 6));
  CHECK(plan.communication_pu == 7);
  CHECK(plan.comm_core == CommCore::own_core);
}

TEST_CASE("hyper-threads are recognised when the operating system numbers them last") {
  const Topology machine = Topology::from_synthetic("core:2 pu:2(indexes=0,2,1,3)");
  const Placement plan = plan_placement(machine, free_ranks(1, 0));
  CHECK(plan.compute_pus == Pus{0, 1});
  CHECK(plan.communication_pu == 3);
  CHECK(plan.comm_core == CommCore::hyper_thread);
}

// Slices
// -------------------------------------------------------------------------------------------

TEST_CASE("on 128 cores in 8 domains the slices fill the machine and stay in their domains") {
  const Topology machine = Topology::from_synthetic(big_node);
  for (const std::size_t ranks : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
    CAPTURE(ranks);
    const std::vector<Placement> plans = plan_node(machine, free_ranks(ranks, 0));
    CHECK(all_pus_differ(plans));
    const std::size_t cores = 128 / ranks;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      CAPTURE(rank);
      const Placement& plan = plans[rank];
      CHECK(plan.compute_pus.size() == (cores >= 8 ? cores - 1 : cores));
      CHECK(plan.comm_core == (cores >= 8 ? CommCore::own_core : CommCore::shared_core));
      CHECK(plan.compute_pus.front() == rank * cores);
      CHECK(domains_of(machine, plan).size() == std::max<std::size_t>(1, 8 / ranks));
      CHECK_FALSE(has_trouble(plan));
      CHECK(has(plan, FindingSeverity::note, "span") == (ranks < 8));
    }
  }
}

TEST_CASE("three ranks on two domains do not cross them") {
  const Topology machine = Topology::from_synthetic("pack:2 numa:1 core:8 pu:1");
  const std::vector<Placement> plans = plan_node(machine, free_ranks(3, 0));
  CHECK(plans[0].compute_pus == range(0, 3));
  CHECK(plans[1].compute_pus == range(4, 7));
  CHECK(plans[2].compute_pus == range(8, 14));
  CHECK(plans[2].communication_pu == 15);
}

TEST_CASE("ranks cross domains when their threads would not fit otherwise") {
  const Topology machine = Topology::from_synthetic("pack:2 numa:1 core:8 pu:1");
  const std::vector<Placement> plans = plan_node(machine, free_ranks(3, 5));
  CHECK(plans[0].compute_pus == range(0, 4));
  CHECK(plans[1].compute_pus == range(5, 9));
  CHECK(plans[2].compute_pus == range(10, 14));
  CHECK(plans[2].communication_pu == 15);
  CHECK(has(plans[1], FindingSeverity::note, "span 2 NUMA domains"));
  CHECK_FALSE(plans[1].oversubscribed);
}

TEST_CASE("ranks cross domains rather than live on less than half of an even share") {
  const Topology machine = Topology::from_synthetic("numa:3 core:8 pu:1");
  const Pus uneven{0, 8, 16, 17, 18, 19, 20, 21, 22, 23};
  const std::vector<Placement> plans = plan_node(machine, confined_ranks({uneven, uneven}, 0));
  CHECK(plans[0].compute_pus == Pus{0, 8, 16, 17, 18});
  CHECK(plans[1].compute_pus == range(19, 23));
}

TEST_CASE("domains of unequal size get ranks in proportion") {
  const Topology machine = Topology::from_synthetic("numa:2 core:8 pu:1");
  const std::vector<Placement> plans =
      plan_node(machine, confined_ranks({range(0, 9), range(0, 9), range(0, 9)}, 0));
  CHECK(plans[0].compute_pus == range(0, 3));
  CHECK(plans[1].compute_pus == range(4, 7));
  CHECK(plans[2].compute_pus == range(8, 9));
}

TEST_CASE("a rank with fewer threads than cores keeps them in its first domain") {
  const Topology machine = Topology::from_synthetic(big_node);
  const std::vector<Placement> plans = plan_node(machine, free_ranks(2, 4));
  CHECK(plans[0].compute_pus == range(0, 3));
  CHECK(plans[0].communication_pu == 4);
  CHECK(plans[1].compute_pus == range(64, 67));
}

TEST_CASE("slices of any number of ranks on any machine never overlap") {
  for (const std::string& description :
       {two_cores, two_packages, big_node, std::string("pack:1 numa:3 core:5 pu:4")}) {
    const Topology machine = Topology::from_synthetic(description);
    for (std::size_t ranks = 1; ranks <= machine.core_count(); ++ranks) {
      CAPTURE(description, ranks);
      const std::vector<Placement> plans = plan_node(machine, free_ranks(ranks, 0));
      CHECK(all_pus_differ(plans));
      for (const Placement& plan : plans) CHECK_FALSE(has_trouble(plan));
      const std::size_t threads = std::accumulate(
          plans.begin(), plans.end(), std::size_t{0}, [](std::size_t sum, const Placement& plan) {
            return sum + plan.compute_pus.size() + (plan.comm_core == CommCore::own_core ? 1 : 0);
          });
      CHECK(threads == machine.core_count());
    }
  }
}

TEST_CASE("the same input gives the same plan, and a rank's plan is its part of the node's") {
  const Topology machine = Topology::from_synthetic(two_packages);
  PlacementRequest request = bound_ranks({{0}, {0, 1}, range(4, 9), {31}}, 3);
  const std::vector<Placement> plans = plan_node(machine, request);
  CHECK(plan_node(machine, request) == plans);
  for (int rank = 0; rank < 4; ++rank) {
    request.node.this_rank_on_node = rank;
    CHECK(plan_placement(machine, request) == plans[static_cast<std::size_t>(rank)]);
  }
}

// Requests
// -----------------------------------------------------------------------------------------
TEST_CASE("requests that contradict themselves are refused") {
  const Topology machine = Topology::from_synthetic(two_cores);
  CHECK_THROWS_AS(plan_placement(machine, PlacementRequest{}), std::invalid_argument);
  PlacementRequest request = free_ranks(2, 0);
  request.node.this_rank_on_node = 2;
  CHECK_THROWS_AS(plan_placement(machine, request), std::invalid_argument);
  request = free_ranks(2, -1);
  CHECK_THROWS_AS(plan_placement(machine, request), std::invalid_argument);
  request = free_ranks(2, 1);
  request.node.bound_per_rank.pop_back();
  CHECK_THROWS_AS(plan_placement(machine, request), std::invalid_argument);
}

TEST_CASE("a plan for another machine says that it is one") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const Placement plan = plan_placement(machine, free_ranks(1, 1));
  CHECK(has(plan, FindingSeverity::note, "threads are not pinned"));
}

TEST_CASE("what a communication thread runs on has a name") {
  CHECK(to_string(CommCore::own_core) == "own core");
  CHECK(to_string(CommCore::hyper_thread) == "hyper-thread");
  CHECK(to_string(CommCore::shared_core) == "shared core");
}

}  // namespace
}  // namespace weft::comm_thread
