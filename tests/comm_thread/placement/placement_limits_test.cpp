#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "comm_thread/placement/placement.h"
#include "tests/comm_thread/placement/placement_support.h"

namespace weft::comm_thread {
namespace {

// Restricted sets
// ----------------------------------------------------------------------------------

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
    for (Pus& set : request.node.reach_per_rank) set = random_set();
    const std::vector<Placement> plans = plan_node(machine, request);
    std::map<unsigned, int> load;
    for (const Placement& plan : plans)
      for (const unsigned pu : plan.compute_pus) ++load[pu];
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      CAPTURE(round, rank);
      const Placement& plan = plans[rank];
      const Pus& allowed = request.node.allowed_per_rank[rank];
      const Pus& bound = request.node.bound_per_rank[rank];
      const Pus& reach = request.node.reach_per_rank[rank];
      const auto is_in = [](const Pus& set) {
        return [&set](unsigned pu) { return std::ranges::count(set, pu) == 1; };
      };
      const bool is_foreign = std::ranges::none_of(bound, is_in(allowed));
      const auto is_allowed = [&](unsigned pu) {
        return is_in(allowed)(pu) && (is_foreign || is_in(bound)(pu) || is_in(reach)(pu));
      };
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

// Repairs
// ------------------------------------------------------------------------------------------

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

// Masks and quotas
// ---------------------------------------------------------------------------------

TEST_CASE("a mask is not left, however many threads and ranks there are") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  PlacementRequest request = masked_ranks({{2}, {2}}, 2);
  request.node.mask_owner = {"the mask", "widen it"};
  for (const Placement& plan : plan_node(machine, request)) {
    CHECK(plan.compute_pus == Pus{2, 2});
    CHECK(plan.communication_pu == 2);
    CHECK(plan.home == Pus{2});
    CHECK(plan.oversubscribed);
    CHECK(has(plan, FindingSeverity::note, "the mask left 3 cores idle (PUs 0,1,3): widen it"));
    CHECK_FALSE(has(plan, FindingSeverity::repaired));
  }
}

TEST_CASE("a binding is widened within the reach of the launcher only") {
  const Topology machine = Topology::from_synthetic("core:8 pu:1");
  PlacementRequest request = masked_ranks({{0}}, 4);
  request.node.reach_per_rank = {{0, 1, 2, 3}};
  CHECK(plan_placement(machine, request).compute_pus == range(0, 3));
  request.node.allowed_per_rank = {{0, 1, 5}};
  CHECK(plan_placement(machine, request).home == Pus{0, 1});
}

/// Ranks that nothing binds and that share a quota of `cores`.
PlacementRequest ranks_with_quota(std::size_t ranks, int threads_wanted, double cores) {
  PlacementRequest request = free_ranks(ranks, threads_wanted);
  for (auto& quotas : request.node.quotas_per_rank)
    quotas = {{7, static_cast<std::int64_t>(cores * 100000), 100000, "/a/cpu.max"}};
  return request;
}

TEST_CASE("a quota of processor time limits the number of threads, and that is said") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const Placement plan = plan_placement(machine, ranks_with_quota(1, 0, 2.5));
  CHECK(plan.compute_pus == Pus{0, 1});
  CHECK(plan.communication_pu == 2);
  CHECK(plan.quota.value().compute_threads == 2);
  CHECK(has(plan, FindingSeverity::note,
            "the quota in cpu.max gives 2.5 cores of processor time to rank 0: 2 compute threads "
            "per rank instead of 4; --threads overrides it"));
  CHECK_FALSE(has_trouble(plan));
}

TEST_CASE("ranks of a node divide a quota that they share") {
  const Topology machine = Topology::from_synthetic("core:8 pu:1");
  for (const Placement& plan : plan_node(machine, ranks_with_quota(2, 0, 5))) {
    CHECK(plan.compute_pus.size() == 2);
    CHECK(plan.quota.value().ranks == 2);
    CHECK(plan.quota.value().compute_threads == 4);
    CHECK(has(plan, FindingSeverity::note, "5 cores of processor time to ranks 0,1: 2 compute"));
  }
  PlacementRequest request = ranks_with_quota(2, 0, 5);
  request.node.quotas_per_rank[1].front().group = 8;  // a container for each
  for (const Placement& plan : plan_node(machine, request)) CHECK(plan.compute_pus.size() == 4);
  request.node.quotas_per_rank[1].clear();
  CHECK_FALSE(plan_node(machine, request)[1].quota.has_value());
}

TEST_CASE("a quota that is too small for the threads asked for, or for the ranks, is a warning") {
  const Topology machine = Topology::from_synthetic("core:4 pu:1");
  const Placement asked = plan_placement(machine, ranks_with_quota(1, 3, 2.5));
  CHECK(asked.compute_pus.size() == 3);
  CHECK(has(asked, FindingSeverity::warning,
            "2.5 cores of processor time to rank 0, whose 3 compute threads will be stopped"));
  for (const Placement& plan : plan_node(machine, ranks_with_quota(3, 0, 2))) {
    CHECK(plan.compute_pus.size() == 1);
    CHECK(has(plan, FindingSeverity::warning, "to ranks 0-2, whose 3 compute threads"));
  }
}

TEST_CASE("a quota of more than the cores there are changes nothing") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const Placement plan = plan_placement(machine, ranks_with_quota(1, 0, 4));
  CHECK(plan.compute_pus == Pus{0, 1});
  CHECK_FALSE(has(plan, FindingSeverity::note, "quota"));
  CHECK_FALSE(has_trouble(plan));
  CHECK(plan.quota.value().quota.cores() == 4);
}

// Too much
// -----------------------------------------------------------------------------------------

TEST_CASE("eight ranks on two cores go round them in turn") {
  const Topology machine = Topology::from_synthetic(two_cores);
  const std::vector<Placement> plans = plan_node(machine, free_ranks(8, 1));
  for (unsigned rank = 0; rank < 8; ++rank) {
    CHECK(plans[rank].compute_pus == Pus{rank % 2});
    CHECK(plans[rank].communication_pu == rank % 2);
    CHECK(plans[rank].comm_core == CommCore::shared_core);
    CHECK(plans[rank].oversubscribed);
    CHECK(
        has(plans[rank], FindingSeverity::warning, "8 compute threads of ranks 0-7 share PUs 0,1"));
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
  CHECK_FALSE(is_refused(plan_placement(machine,
                                        [] {
                                          PlacementRequest nothing_explicit = free_ranks(3, 0);
                                          nothing_explicit.strict = true;
                                          return nothing_explicit;
                                        }())
                             .findings));
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

}  // namespace
}  // namespace weft::comm_thread
