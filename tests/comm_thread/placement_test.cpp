#include "comm_thread/placement.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace weft::comm_thread {
namespace {

using Pus = std::vector<unsigned>;

/// `first`, …, `last`.
Pus range(unsigned first, unsigned last) {
  Pus pus(last - first + 1);
  std::iota(pus.begin(), pus.end(), first);
  return pus;
}

/// Ranks that no launcher bound and no cgroup restricts.
PlacementRequest free_ranks(std::size_t ranks, int threads_wanted) {
  PlacementRequest request;
  request.node.allowed_per_rank.resize(ranks);
  request.node.bound_per_rank.resize(ranks);
  request.threads_wanted = threads_wanted;
  return request;
}

/// Ranks that may use the whole machine and were bound to `bound`.
PlacementRequest bound_ranks(std::vector<Pus> bound, int threads_wanted) {
  PlacementRequest request = free_ranks(bound.size(), threads_wanted);
  request.node.bound_per_rank = std::move(bound);
  return request;
}

/// Ranks that a cgroup confines to `allowed`.
PlacementRequest confined_ranks(std::vector<Pus> allowed, int threads_wanted) {
  PlacementRequest request = free_ranks(allowed.size(), threads_wanted);
  request.node.bound_per_rank = allowed;
  request.node.allowed_per_rank = std::move(allowed);
  return request;
}

bool has(const Placement& plan, FindingSeverity severity, const std::string& part = "") {
  return std::ranges::any_of(plan.findings, [&](const PlacementFinding& finding) {
    return finding.severity == severity && finding.text.find(part) != std::string::npos;
  });
}

bool has_trouble(const Placement& plan) {
  return std::ranges::any_of(plan.findings, [](const PlacementFinding& finding) {
    return finding.severity != FindingSeverity::note;
  });
}

std::set<unsigned> domains_of(const Topology& machine, const Placement& plan) {
  std::set<unsigned> domains;
  for (const unsigned pu : plan.compute_pus) domains.insert(machine.find_pu(pu)->numa_domain);
  return domains;
}

/// No PU, the communication threads' included, appears twice.
bool all_pus_differ(const std::vector<Placement>& plans) {
  std::set<unsigned> seen;
  std::size_t count = 0;
  for (const Placement& plan : plans) {
    for (const unsigned pu : plan.compute_pus) seen.insert(pu);
    count += plan.compute_pus.size();
    if (plan.comm_core == CommCore::shared_core) continue;
    seen.insert(plan.communication_pu);
    ++count;
  }
  return seen.size() == count;
}

const std::string two_cores = "core:2 pu:1";
const std::string two_packages = "pack:2 numa:1 core:8 pu:2";  // core c has the PUs 2c, 2c+1
const std::string big_node = "pack:2 numa:4 core:16 pu:1";     // 8 domains, 128 cores

// Where the communication thread goes -------------------------------------------------------------

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

// Slices ------------------------------------------------------------------------------------------

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
          plans.begin(), plans.end(), std::size_t{0},
          [](std::size_t sum, const Placement& plan) {
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

// Restricted sets ---------------------------------------------------------------------------------

TEST_CASE("ranks that share a restricted set divide it") {
  const Topology machine = Topology::from_synthetic(big_node);
  const std::vector<Placement> plans =
      plan_node(machine, confined_ranks({range(32, 39), range(32, 39)}, 0));
  CHECK(plans[0].compute_pus == range(32, 35));
  CHECK(plans[1].compute_pus == range(36, 39));
  CHECK(has(plans[0], FindingSeverity::note, "permits PUs 32-39 of 128 PUs"));
  CHECK_FALSE(has_trouble(plans[0]));
}

TEST_CASE("ranks with sets of their own stay inside them") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const std::vector<Placement> plans =
      plan_node(machine, confined_ranks({range(16, 31), range(0, 7)}, 0));
  CHECK(plans[0].compute_pus == Pus{16, 18, 20, 22, 24, 26, 28, 30});
  CHECK(plans[0].communication_pu == 31);
  CHECK(plans[1].compute_pus == Pus{0, 2, 4, 6});
  CHECK(plans[1].communication_pu == 7);
}

TEST_CASE("a binding by the launcher that suffices is kept") {
  const Topology machine = Topology::from_synthetic(big_node);
  const std::vector<Placement> plans =
      plan_node(machine, bound_ranks({range(64, 67), range(0, 3)}, 3));
  CHECK(plans[0].compute_pus == range(64, 66));
  CHECK(plans[0].communication_pu == 67);
  CHECK(plans[1].compute_pus == range(0, 2));
  CHECK_FALSE(has_trouble(plans[0]));
  CHECK(has(plans[0], FindingSeverity::note, "left 120 cores idle (PUs 4-63,68-127)"));
}

TEST_CASE("sets that overlap in part are dealt so that nobody loses out") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const std::vector<Placement> plans =
      plan_node(machine, confined_ranks({{0, 1}, {0}, {1, 2, 3}}, 0));
  CHECK(plans[0].compute_pus == Pus{1});
  CHECK(plans[1].compute_pus == Pus{0});
  CHECK(plans[2].compute_pus == Pus{2, 3});
  CHECK_FALSE(has_trouble(plans[2]));
}

TEST_CASE("overlapping sets keep two ranks off a core that one of them needs") {
  const Topology machine = Topology::from_synthetic("core:6 pu:1");
  const std::vector<Placement> plans =
      plan_node(machine, confined_ranks({range(0, 3), range(2, 5)}, 3));
  CHECK(plans[0].compute_pus.size() == 3);
  CHECK(plans[1].compute_pus.size() == 3);
  CHECK(all_pus_differ(plans));
  for (const unsigned pu : plans[0].compute_pus) CHECK(pu <= 3);
  for (const unsigned pu : plans[1].compute_pus) CHECK(pu >= 2);
}

TEST_CASE("overlapping sets with room to spare leave cores to the communication threads") {
  const Topology machine = Topology::from_synthetic("core:6 pu:1");
  for (const Placement& plan : plan_node(machine, confined_ranks({range(0, 3), range(2, 5)}, 2)))
    CHECK(plan.comm_core == CommCore::own_core);
}

TEST_CASE("overlapping sets on one core are dealt by hyper-threads") {
  const Topology machine = Topology::from_synthetic("core:2 pu:2");
  const std::vector<Placement> plans = plan_node(machine, confined_ranks({{0, 1}, {0}}, 1));
  CHECK(plans[0].compute_pus == Pus{1});
  CHECK(plans[1].compute_pus == Pus{0});
  CHECK_FALSE(plans[0].oversubscribed);
}

TEST_CASE("sets that name PUs this machine does not have are put right") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const Placement plan = plan_placement(machine, bound_ranks({{40, 41}}, 0));
  CHECK(plan.compute_pus == Pus{0, 1});
  CHECK(has(plan, FindingSeverity::repaired, "bound to PUs 40,41"));
}

TEST_CASE("whatever the sets, threads stay in them and share a PU only where that is reported") {
  const Topology machine = Topology::from_synthetic("numa:2 core:3 pu:2");
  std::mt19937 random(1);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  const auto random_set = [&] {
    Pus set;
    const unsigned sparseness = 1 + below(5);
    for (unsigned pu = 0; pu < 12; ++pu)
      if (below(sparseness) == 0) set.push_back(pu);
    return set.empty() ? Pus{0} : set;
  };
  for (int round = 0; round < 500; ++round) {
    PlacementRequest request = free_ranks(1 + below(7), 0);
    request.threads_wanted = static_cast<int>(below(4));
    for (Pus& set : request.node.allowed_per_rank) set = random_set();
    for (Pus& set : request.node.bound_per_rank) set = random_set();
    const std::vector<Placement> plans = plan_node(machine, request);
    std::map<unsigned, int> load;
    for (const Placement& plan : plans)
      for (const unsigned pu : plan.compute_pus) ++load[pu];
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      CAPTURE(round, rank);
      const Placement& plan = plans[rank];
      const Pus& allowed = request.node.allowed_per_rank[rank];
      const auto is_allowed = [&](unsigned pu) { return std::ranges::count(allowed, pu) == 1; };
      const auto is_crowded = [&](unsigned pu) { return load[pu] > 1; };
      CHECK(std::ranges::all_of(plan.compute_pus, is_allowed));
      CHECK(is_allowed(plan.communication_pu));
      CHECK(std::ranges::any_of(plan.compute_pus, is_crowded) == plan.oversubscribed);
      CHECK(has(plan, FindingSeverity::warning, "take turns") == plan.oversubscribed);
      CHECK((load.contains(plan.communication_pu)) == (plan.comm_core == CommCore::shared_core));
      if (request.threads_wanted > 0)
        CHECK(plan.compute_pus.size() == static_cast<std::size_t>(request.threads_wanted));
    }
  }
}

// Repairs -----------------------------------------------------------------------------------------

TEST_CASE("two ranks bound to core 0 are given the free cores too") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const std::vector<Placement> plans = plan_node(machine, bound_ranks({{0}, {0}}, 0));
  CHECK(plans[0].compute_pus == Pus{0, 1});
  CHECK(plans[1].compute_pus == Pus{2, 3});
  for (const Placement& plan : plans) {
    CHECK(has(plan, FindingSeverity::repaired, "ranks 0,1 were bound to PU 0 (1 core)"));
    CHECK(plan.findings == plans[0].findings);
    CHECK_FALSE(plan.oversubscribed);
  }
}

TEST_CASE("two ranks on the hyper-threads of one core are given the free cores too") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const std::vector<Placement> plans = plan_node(machine, bound_ranks({{0}, {1}}, 1));
  CHECK(machine.find_pu(plans[0].compute_pus[0])->core !=
        machine.find_pu(plans[1].compute_pus[0])->core);
  CHECK(has(plans[1], FindingSeverity::repaired, "ranks 0,1 were bound to PUs 0,1 (1 core)"));
}

TEST_CASE("two ranks that a cgroup confines to core 0 share it, and that is said once") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<Placement> plans = plan_node(machine, confined_ranks({{0}, {0}}, 1));
  for (const Placement& plan : plans) {
    CHECK(plan.compute_pus == Pus{0});
    CHECK(plan.comm_core == CommCore::shared_core);
    CHECK(plan.oversubscribed);
    CHECK(has(plan, FindingSeverity::warning, "2 compute threads of ranks 0,1 share PU 0"));
    CHECK_FALSE(has(plan, FindingSeverity::repaired));
    CHECK(std::ranges::count(plan.findings, FindingSeverity::warning,
                             &PlacementFinding::severity) == 1);
  }
}

TEST_CASE("two ranks that a cgroup confines to one core with hyper-threads take one each") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const std::vector<Placement> plans = plan_node(machine, confined_ranks({{0, 1}, {0, 1}}, 1));
  CHECK(plans[0].compute_pus == Pus{0});
  CHECK(plans[1].compute_pus == Pus{1});
  CHECK_FALSE(plans[0].oversubscribed);
  CHECK(has(plans[0], FindingSeverity::warning, "ranks 0,1 share cores by hyper-threads"));
}

TEST_CASE("a rank with several threads bound to one core is given more") {
  const Topology machine = Topology::from_synthetic("core:8 pu:1");
  const std::vector<Placement> plans = plan_node(machine, bound_ranks({{0}, {1}}, 2));
  CHECK(plans[0].compute_pus == Pus{0, 1});
  CHECK(plans[0].communication_pu == 2);
  CHECK(plans[1].compute_pus == Pus{4, 5});
  CHECK(has(plans[0], FindingSeverity::repaired, "rank 0 was bound to PU 0 (1 core)"));
  CHECK(has(plans[1], FindingSeverity::repaired, "rank 1 was bound to PU 1 (1 core)"));
}

TEST_CASE("a rank bound to fewer PUs than its threads is given more") {
  const Topology machine = Topology::from_synthetic("core:8 pu:1");
  const Placement plan = plan_placement(machine, bound_ranks({{4, 5}}, 4));
  CHECK(plan.compute_pus == range(0, 3));
  CHECK(has(plan, FindingSeverity::repaired, "rank 0 was bound to PUs 4,5 (2 cores)"));
}

TEST_CASE("a rank that is bound too tightly beside one that is not is given more") {
  const Topology machine = Topology::from_synthetic("core:8 pu:1");
  const std::vector<Placement> plans = plan_node(machine, bound_ranks({{0}, range(0, 5)}, 2));
  CHECK(all_pus_differ(plans));
  CHECK_FALSE(plans[0].oversubscribed);
  CHECK(has(plans[0], FindingSeverity::repaired));
}

TEST_CASE("several threads on the hyper-threads of one core are spread over free cores") {
  const Topology machine = Topology::from_synthetic(two_packages);
  const Placement plan = plan_placement(machine, bound_ranks({{6, 7}}, 2));
  CHECK(machine.find_pu(plan.compute_pus[0])->core != machine.find_pu(plan.compute_pus[1])->core);
  CHECK(has(plan, FindingSeverity::repaired));
}

TEST_CASE("a repair leaves the homes of others alone") {
  const Topology machine = Topology::from_synthetic("core:6 pu:1");
  const std::vector<Placement> plans = plan_node(machine, bound_ranks({{5}, {5}, range(0, 3)}, 1));
  CHECK(plans[0].compute_pus == Pus{4});
  CHECK(plans[1].compute_pus == Pus{5});
  CHECK(plans[2].compute_pus == Pus{0});
  CHECK(plans[2].communication_pu == 1);
  CHECK_FALSE(has_trouble(plans[2]));
}

TEST_CASE("a rank bound to one core with no number of threads given stays there and is told") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const std::vector<Placement> plans = plan_node(machine, bound_ranks({{0}, {1}}, 0));
  CHECK(plans[0].compute_pus == Pus{0});
  CHECK(plans[1].compute_pus == Pus{1});
  CHECK(has(plans[0], FindingSeverity::note, "left 2 cores idle (PUs 2,3)"));
}

// Too much ----------------------------------------------------------------------------------------

TEST_CASE("eight ranks on two cores go round them in turn") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<Placement> plans = plan_node(machine, free_ranks(8, 1));
  for (unsigned rank = 0; rank < 8; ++rank) {
    CHECK(plans[rank].compute_pus == Pus{rank % 2});
    CHECK(plans[rank].communication_pu == rank % 2);
    CHECK(plans[rank].comm_core == CommCore::shared_core);
    CHECK(plans[rank].oversubscribed);
    CHECK(has(plans[rank], FindingSeverity::warning,
              "8 compute threads of ranks 0-7 share PUs 0,1"));
    CHECK_FALSE(is_refused(plans[rank].findings));
  }
}

TEST_CASE("three ranks of two threads on two cores spread each rank over both") {
  const Topology machine = Topology::from_synthetic(two_cores);
  for (const Placement& plan : plan_node(machine, free_ranks(3, 2)))
    CHECK(std::set<unsigned>(plan.compute_pus.begin(), plan.compute_pus.end()).size() == 2);
}

TEST_CASE("five ranks of two threads on four cores load them evenly") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const std::vector<Placement> plans = plan_node(machine, free_ranks(5, 2));
  CHECK(plans[0].compute_pus == Pus{0, 1});
  CHECK(plans[1].compute_pus == Pus{2, 3});
  CHECK(plans[2].compute_pus == Pus{0, 1});
  CHECK(plans[4].compute_pus == Pus{0, 1});
}

TEST_CASE("three ranks on two cores with hyper-threads get hardware threads of their own") {
  const Topology machine = Topology::from_synthetic("core:2 pu:2");
  const std::vector<Placement> plans = plan_node(machine, free_ranks(3, 0));
  CHECK(plans[0].compute_pus == Pus{0});
  CHECK(plans[1].compute_pus == Pus{1});
  CHECK(plans[2].compute_pus == Pus{2});
  CHECK(plans[2].communication_pu == 3);
  CHECK(plans[2].comm_core == CommCore::hyper_thread);
  CHECK(has(plans[0], FindingSeverity::warning, "ranks 0,1 share cores by hyper-threads"));
  CHECK_FALSE(has_trouble(plans[2]));
}

TEST_CASE("two ranks of two threads on two cores keep a core each") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<Placement> plans = plan_node(machine, free_ranks(2, 2));
  CHECK(plans[0].compute_pus == Pus{0, 0});
  CHECK(plans[1].compute_pus == Pus{1, 1});
  CHECK(plans[1].oversubscribed);
  CHECK(has(plans[1], FindingSeverity::warning, "4 compute threads of ranks 0,1 share PUs 0,1"));
}

TEST_CASE("what cannot be met is refused when strict, and only then") {
  const Topology machine = Topology::from_synthetic(two_cores);
  PlacementRequest request = free_ranks(1, 3);
  CHECK_FALSE(is_refused(plan_placement(machine, request).findings));
  request.strict = true;
  const Placement plan = plan_placement(machine, request);
  CHECK(is_refused(plan.findings));
  CHECK(has(plan, FindingSeverity::refused, "expected a PU for each"));
  request.threads_wanted = 2;
  CHECK_FALSE(is_refused(plan_placement(machine, request).findings));
  CHECK_FALSE(is_refused(plan_placement(machine, [] {
                           PlacementRequest nothing_explicit = free_ranks(3, 0);
                           nothing_explicit.strict = true;
                           return nothing_explicit;
                         }()).findings));
}

TEST_CASE("only the ranks concerned hear of a crowded PU") {
  const Topology machine = Topology::from_synthetic("core:3 pu:1");
  const std::vector<Placement> plans = plan_node(machine, confined_ranks({{0}, {0}, {1, 2}}, 1));
  CHECK(plans[0].oversubscribed);
  CHECK(plans[1].oversubscribed);
  CHECK_FALSE(plans[2].oversubscribed);
  CHECK_FALSE(has_trouble(plans[2]));
}

TEST_CASE("a core is not called a communication thread's own when another rank computes on it") {
  const Topology machine = Topology::from_synthetic("core:3 pu:2");
  for (const Placement& plan : plan_node(machine, free_ranks(4, 1))) {
    if (plan.comm_core != CommCore::own_core) continue;
    for (const Placement& other : plan_node(machine, free_ranks(4, 1)))
      CHECK(machine.find_pu(other.compute_pus[0])->core !=
            machine.find_pu(plan.communication_pu)->core);
  }
}

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
  CHECK(bind_this_thread(machine, 0)->severity == FindingSeverity::note);
  CHECK(binding_of_this_thread(machine).empty());
  CHECK(permitted_pus_of_this_process(machine) == Pus{0, 1});
}

// This machine ------------------------------------------------------------------------------------

TEST_CASE("a thread pinned to a permitted PU is found there") {
  const Topology machine = Topology::from_this_machine();
  if (!machine.is_this_machine()) return;
  for (const unsigned pu : permitted_pus_of_this_process(machine)) {
    std::optional<PlacementFinding> trouble;
    ThreadAudit found;
    std::thread([&] {
      trouble = bind_this_thread(machine, pu);
      found = audit_this_thread(machine, 0, 0, pu);
    }).join();
    CHECK_FALSE(trouble.has_value());
    CHECK(found.binding == Pus{pu});
    CHECK(found.last_cpu == pu);
    CHECK(audit(machine, std::vector{found}).empty());
  }
}

TEST_CASE("a PU that does not exist is a finding and nothing worse") {
  const Topology machine = Topology::from_this_machine();
  if (!machine.is_this_machine()) return;
  std::optional<PlacementFinding> trouble;
  std::thread([&] { trouble = bind_this_thread(machine, 100000); }).join();
  CHECK(trouble.has_value());
  CHECK(trouble->severity == FindingSeverity::warning);
  CHECK(trouble->text.find("cannot pin a thread to PU 100000: ") == 0);
}

TEST_CASE("permitted PUs are found beyond the present binding, which is left as it was") {
  const Topology machine = Topology::from_this_machine();
  if (!machine.is_this_machine()) return;
  Pus permitted_before, permitted_pinned, binding_after;
  std::thread([&] {
    permitted_before = permitted_pus_of_this_process(machine);
    static_cast<void>(bind_this_thread(machine, permitted_before.front()));
    permitted_pinned = permitted_pus_of_this_process(machine);
    binding_after = binding_of_this_thread(machine);
  }).join();
  CHECK(permitted_pinned == permitted_before);
  CHECK(binding_after == Pus{permitted_before.front()});
}

// The audit ---------------------------------------------------------------------------------------

TEST_CASE("threads that are where they were planned give no findings") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<ThreadAudit> threads{
      {0, 0, 0, {0}, 0}, {0, 1, 1, {1}, 1}, {0, -1, 1, {1}, 1}};
  CHECK(audit(machine, threads).empty());
  CHECK(audit(machine, {}).empty());
}

TEST_CASE("the audit names a thread that is not pinned, elsewhere, or was seen elsewhere") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const auto only_finding = [&](const ThreadAudit& thread) {
    const std::vector<PlacementFinding> findings = audit(machine, std::vector{thread});
    CHECK(findings.size() == 1);
    return findings.empty() ? std::string() : findings.front().text;
  };
  CHECK(only_finding({2, 1, 0, {0, 1, 2}, 2}) ==
        "rank 2 compute thread 1 is not pinned: may run on PUs 0-2, planned for PU 0");
  CHECK(only_finding({0, -1, 3, {2}, 2}) ==
        "rank 0 communication thread is pinned to PU 2, planned for PU 3");
  CHECK(only_finding({0, 0, 3, {3}, 1}) == "rank 0 compute thread 0 ran on PU 1, planned for PU 3");
  CHECK(only_finding({0, 0, 3, {}, std::nullopt}) ==
        "where the threads run cannot be read back here");
}

TEST_CASE("the audit finds compute threads of two ranks on one PU") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<ThreadAudit> threads{{0, 0, 0, {0}, 0}, {1, 0, 0, {0}, 0}};
  const std::vector<PlacementFinding> findings = audit(machine, threads);
  CHECK(findings.size() == 1);
  CHECK(findings.at(0).severity == FindingSeverity::warning);
  CHECK(findings.at(0).text ==
        "rank 0 compute thread 0 and rank 1 compute thread 0 are all on PU 0");
}

TEST_CASE("the audit finds a communication thread on the PU of a thread it should not meet") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<ThreadAudit> threads{{0, 0, 0, {0}, 0}, {0, -1, 1, {0}, 0}};
  CHECK(audit(machine, threads).size() == 2);
}

TEST_CASE("the audit finds all compute threads of a rank on one core") {
  const Topology machine = Topology::from_synthetic("core:2 pu:2");
  const std::vector<ThreadAudit> threads{{0, 0, 0, {0}, 0}, {0, 1, 1, {1}, 1}};
  const std::vector<PlacementFinding> findings = audit(machine, threads);
  CHECK(findings.size() == 1);
  CHECK(findings.at(0).text == "rank 0: all 2 compute threads are on one core");
}

TEST_CASE("lists of numbers are short") {
  CHECK(format_list(Pus{}).empty());
  CHECK(format_list(Pus{3}) == "3");
  CHECK(format_list(Pus{0, 1}) == "0,1");
  CHECK(format_list(Pus{0, 1, 2, 3, 7, 9, 10, 11}) == "0-3,7,9-11");
}

TEST_CASE("kinds have names") {
  CHECK(to_string(CommCore::own_core) == "own core");
  CHECK(to_string(CommCore::hyper_thread) == "hyper-thread");
  CHECK(to_string(CommCore::shared_core) == "shared core");
  CHECK(to_string(FindingSeverity::repaired) == "repaired");
}

}  // namespace
}  // namespace weft::comm_thread
