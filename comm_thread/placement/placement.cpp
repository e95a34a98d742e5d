#include "comm_thread/placement/placement.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "comm_thread/placement/core_slices.h"
#include "comm_thread/placement/number_words.h"
#include "comm_thread/placement/pu_sets.h"
#include "comm_thread/placement/rank_homes.h"
#include "comm_thread/placement/unit_matching.h"

namespace weft::comm_thread {
namespace {

/// Plans a whole node; `plan()` lists the steps from top to bottom.
class NodePlanner {
 public:
  NodePlanner(const Topology& topology, const PlacementRequest& request)
      : topology_(topology),
        machine_(topology),
        wanted_(static_cast<std::size_t>(request.threads_wanted)),
        strict_(request.strict),
        node_(request.node),
        homes_(machine_, machine_.from_os_indexes(topology.allowed_pus()), request.node, wanted_),
        shares_(homes_.rank_count()),
        plans_(homes_.rank_count()) {}

  std::vector<Placement> plan() && {
    homes_.widen_short_homes();
    for (const RankGroup& group : homes_.groups()) deal(group);
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) place_threads(rank);
    name_comm_cores();
    count_threads_of_quotas();
    report_home_findings();
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) report_on_rank(rank);
    report_shared_pus();
    report_shared_cores();
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) report_quota(rank);
    return std::move(plans_);
  }

 private:
  /// Share of one rank.
  struct CoreShare {
    PuSet pus;
    /// Position among the ranks that take turns on the same PUs; empty without turns.
    std::optional<std::size_t> turn;
  };

  void add(std::size_t rank, FindingSeverity severity, std::string text) {
    plans_[rank].findings.push_back({severity, std::move(text)});
  }

  // Shares ---------------------------------------------------------------------------------------

  /// Rules 1 and 5.
  void deal(const RankGroup& group) {
    const PuSet& first = homes_.home(group.front());
    const bool same_home =
        std::ranges::all_of(group, [&](std::size_t rank) { return homes_.home(rank) == first; });
    if (same_home)
      deal_slices(group, first);
    else
      deal_by_matching(group);
  }

  void deal_slices(const RankGroup& group, const PuSet& home) {
    std::vector<CoreUnit> units = machine_.cores_of(home);
    if (group.size() > units.size()) units = machine_.single_pus_of(home);
    if (group.size() > units.size()) {
      for (std::size_t i = 0; i < group.size(); ++i) shares_[group[i]] = {home, i};
      return;
    }
    const std::vector<CoreSlice> slices = cut_slices(units, group.size(), wanted_);
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t unit = slices[i].begin; unit < slices[i].end; ++unit)
        give(group[i], units[unit].pus);
  }

  void deal_by_matching(const RankGroup& group) {
    const PuSet home = homes_.home_of(group);
    const std::size_t limit = wanted_ > 0 ? wanted_ + 1 : home.size();
    if (try_matching(group, machine_.cores_of(home), limit)) return;
    if (try_matching(group, machine_.single_pus_of(home), limit)) return;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (shares_[group[i]].pus.empty()) shares_[group[i]] = {homes_.home(group[i]), i};
  }

  /// Returns true if every rank of the group got a unit.
  bool try_matching(const RankGroup& group, const std::vector<CoreUnit>& units, std::size_t limit) {
    UnitMatching matching(units.size(), usable_units(group, units));
    matching.deal(limit);
    for (std::size_t i = 0; i < group.size(); ++i) {
      shares_[group[i]] = {};
      for (const std::size_t unit : matching.units_of(i))
        give(group[i], intersection(units[unit].pus, homes_.home(group[i])));
    }
    return std::ranges::none_of(group, [&](std::size_t rank) { return shares_[rank].pus.empty(); });
  }

  std::vector<std::vector<std::size_t>> usable_units(const RankGroup& group,
                                                     const std::vector<CoreUnit>& units) const {
    std::vector<std::vector<std::size_t>> usable(group.size());
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t unit = 0; unit < units.size(); ++unit)
        if (!intersection(units[unit].pus, homes_.home(group[i])).empty())
          usable[i].push_back(unit);
    return usable;
  }

  void give(std::size_t rank, const PuSet& pus) {
    shares_[rank].pus = union_of(shares_[rank].pus, pus);
  }

  // Threads --------------------------------------------------------------------------------------

  /// The PUs of a share in the order in which threads take them: the first of every core, then the
  /// second of every core, …
  static PuSet order_of_use(const std::vector<CoreUnit>& cores, std::size_t pu_count) {
    PuSet order;
    for (std::size_t level = 0; order.size() < pu_count; ++level)
      for (const CoreUnit& core : cores)
        if (level < core.pus.size()) order.push_back(core.pus[level]);
    return order;
  }

  /// Rule 3.
  std::size_t thread_count(std::size_t cores, std::size_t pus) const {
    constexpr std::size_t enough_to_spare_one = 8;
    if (wanted_ > 0) return wanted_;
    return pus == cores && cores >= enough_to_spare_one ? cores - 1 : cores;
  }

  /// Rules 3, 4 and 5.
  void place_threads(std::size_t rank) {
    const auto& [pus, turn] = shares_[rank];
    const std::vector<CoreUnit> cores = machine_.cores_of(pus);
    const PuSet order = order_of_use(cores, pus.size());
    Placement& plan = plans_[rank];
    if (const QuotaShare quota = tightest_quota(node_.quotas_per_rank, rank); quota.ranks > 0)
      plan.quota = quota;
    std::size_t threads =
        turn ? std::max<std::size_t>(wanted_, 1) : thread_count(cores.size(), order.size());
    threads_without_quota_.push_back(threads);
    if (plan.quota && wanted_ == 0)
      threads = std::min(threads, threads_for(plan.quota->cores_of_rank()));
    const std::size_t first = turn.value_or(0) * threads;
    const auto os_index = [&](std::size_t i) {
      return machine_.location(order[i % order.size()]).os_index;
    };
    for (std::size_t i = first; i < first + threads; ++i) plan.compute_pus.push_back(os_index(i));
    plan.communication_pu = plan.compute_pus.back();
    if (!turn && threads < order.size())
      plan.communication_pu = os_index(threads < cores.size() ? threads : order.size() - 1);
    for (const std::size_t pu : homes_.home(rank))
      plan.home.push_back(machine_.location(pu).os_index);
    std::ranges::sort(plan.home);
  }

  /// Ranks that have the quota of `rank`, which has one.
  RankGroup ranks_of_quota(std::size_t rank) const {
    RankGroup ranks;
    for (std::size_t other = 0; other < plans_.size(); ++other)
      if (std::ranges::count(node_.quotas_per_rank[other], plans_[rank].quota->quota.group,
                             &CpuQuota::group) > 0)
        ranks.push_back(other);
    return ranks;
  }

  void count_threads_of_quotas() {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank)
      if (plans_[rank].quota)
        for (const std::size_t other : ranks_of_quota(rank))
          plans_[rank].quota->compute_threads += plans_[other].compute_pus.size();
  }

  /// Determines the kind of core of each communication thread in view of all ranks: if PUs, not
  /// cores, were assigned, a compute thread of another rank may be on the same core.
  void name_comm_cores() {
    std::set<unsigned> computing_pus;
    std::set<unsigned> computing_cores;
    for (const Placement& plan : plans_)
      for (const unsigned pu : plan.compute_pus) {
        computing_pus.insert(pu);
        computing_cores.insert(machine_.location_of(pu).core);
      }
    for (Placement& plan : plans_) {
      const unsigned core = machine_.location_of(plan.communication_pu).core;
      plan.comm_core = computing_pus.contains(plan.communication_pu) ? CommCore::shared_core
                       : computing_cores.contains(core)              ? CommCore::hyper_thread
                                                                     : CommCore::own_core;
    }
  }

  // Findings -------------------------------------------------------------------------------------

  template <class Property>
  std::size_t count_distinct(std::span<const unsigned> os_indexes, Property property) const {
    std::set<unsigned> values;
    for (const unsigned pu : os_indexes) values.insert(machine_.location_of(pu).*property);
    return values.size();
  }

  void report_home_findings() {
    const std::set<unsigned> covered = homes_.covered_cores();
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      plans_[rank].findings = homes_.findings(rank);
      report_idle_cores(rank, machine_.without_cores(homes_.allowed(rank), covered));
    }
  }

  /// A launcher that binds a rank to one core is the usual reason for a rank with one thread.
  void report_idle_cores(std::size_t rank, const PuSet& idle) {
    if (idle.empty()) return;
    add(rank, FindingSeverity::note,
        node_.mask_owner.name + " left " + counted(machine_.core_count(idle), "core") + " idle (" +
            machine_.name(idle) + "): " + node_.mask_owner.way_out);
  }

  void report_quota(std::size_t rank) {
    const auto& share = plans_[rank].quota;
    if (!share) return;
    const std::string file = std::filesystem::path(share->quota.file).filename().string();
    const std::string quota = "the quota" + (file.empty() ? "" : " in " + file) + " gives " +
                              cores_in_words(share->quota.cores()) + " of processor time to " +
                              name_ranks(ranks_of_quota(rank));
    const std::size_t threads = plans_[rank].compute_pus.size();
    if (static_cast<double>(share->compute_threads) > share->quota.cores())
      add(rank, FindingSeverity::warning,
          quota + ", whose " + counted(share->compute_threads, "compute thread") +
              " will be stopped in each period: take fewer threads or ranks, or a larger quota");
    else if (threads < threads_without_quota_[rank])
      add(rank, FindingSeverity::note,
          quota + ": " + counted(threads, "compute thread") + " per rank instead of " +
              std::to_string(threads_without_quota_[rank]) + "; --threads overrides it");
  }

  void report_on_rank(std::size_t rank) {
    const std::vector<unsigned>& pus = plans_[rank].compute_pus;
    const std::size_t cores = count_distinct(pus, &PuLocation::core);
    if (cores < count_distinct(pus, &PuLocation::os_index))
      add(rank, FindingSeverity::note,
          counted(pus.size(), "compute thread") + " on " + counted(cores, "core") +
              ": hyper-threads compute");
    const std::size_t domains = count_distinct(pus, &PuLocation::numa_domain);
    if (domains > 1)
      add(rank, FindingSeverity::note,
          "the compute threads of a rank span " + counted(domains, "NUMA domain") +
              "; one rank per domain keeps memory local");
    if (!topology_.is_this_machine())
      add(rank, FindingSeverity::note, "not the machine this runs on: threads are not pinned");
  }

  /// Reports, on each rank with a compute thread on a PU that has several, the ranks and PUs
  /// concerned.
  void report_shared_pus() {
    std::map<unsigned, std::size_t> load;
    for (const Placement& plan : plans_)
      for (const unsigned pu : plan.compute_pus) ++load[pu];
    std::size_t threads = 0;
    std::vector<unsigned> crowded;
    for (const auto& [pu, count] : load) {
      if (count == 1) continue;
      crowded.push_back(pu);
      threads += count;
    }
    RankGroup ranks;
    for (std::size_t rank = 0; rank < plans_.size(); ++rank)
      if (std::ranges::any_of(plans_[rank].compute_pus,
                              [&](unsigned pu) { return load.at(pu) > 1; }))
        ranks.push_back(rank);
    report_oversubscription(ranks, threads, machine_.from_os_indexes(crowded));
  }

  void report_oversubscription(const RankGroup& ranks, std::size_t threads, const PuSet& crowded) {
    const bool refuse = strict_ && wanted_ > 0;
    const std::string text = counted(threads, "compute thread") + " of " + name_ranks(ranks) +
                             " share " + machine_.name(crowded) +
                             (refuse ? "; expected a PU for each: ask for fewer threads or ranks"
                                     : ": they take turns and will be slow");
    for (const std::size_t rank : ranks) {
      plans_[rank].oversubscribed = true;
      add(rank, refuse ? FindingSeverity::refused : FindingSeverity::warning, text);
    }
  }

  /// Reports ranks that use different PUs of one core.
  void report_shared_cores() {
    std::map<unsigned, std::set<std::size_t>> ranks_on_core;
    for (std::size_t rank = 0; rank < plans_.size(); ++rank)
      for (const unsigned pu : plans_[rank].compute_pus)
        ranks_on_core[machine_.location_of(pu).core].insert(rank);
    std::set<std::size_t> sharing;
    for (const auto& [unused, ranks] : ranks_on_core)
      if (ranks.size() > 1) sharing.insert(ranks.begin(), ranks.end());
    std::erase_if(sharing, [&](std::size_t rank) { return plans_[rank].oversubscribed; });
    const RankGroup ranks(sharing.begin(), sharing.end());
    for (const std::size_t rank : ranks)
      add(rank, FindingSeverity::warning,
          name_ranks(ranks) + " share cores by hyper-threads: fewer cores than ranks are free");
  }

  const Topology& topology_;
  PuSets machine_;
  std::size_t wanted_;
  bool strict_;
  const NodeRanks& node_;
  RankHomes homes_;
  std::vector<std::size_t> threads_without_quota_;
  std::vector<CoreShare> shares_;
  std::vector<Placement> plans_;
};

void check(const PlacementRequest& request) {
  const std::size_t ranks = request.node.allowed_per_rank.size();
  if (ranks == 0 || request.node.bound_per_rank.size() != ranks ||
      request.node.reach_per_rank.size() != ranks || request.node.quotas_per_rank.size() != ranks)
    throw std::invalid_argument("placement: sets and quotas needed for every rank");
  if (request.node.this_rank_on_node < 0 ||
      static_cast<std::size_t>(request.node.this_rank_on_node) >= ranks)
    throw std::invalid_argument("placement: no such rank on this node");
  if (request.threads_wanted < 0)
    throw std::invalid_argument("placement: negative number of threads");
}

}  // namespace

Placement plan_placement(const Topology& topology, const PlacementRequest& request) {
  check(request);
  return plan_node(topology, request)[static_cast<std::size_t>(request.node.this_rank_on_node)];
}

std::vector<Placement> plan_node(const Topology& topology, const PlacementRequest& request) {
  check(request);
  return NodePlanner(topology, request).plan();
}

std::string to_string(CommCore comm_core) {
  switch (comm_core) {
    case CommCore::own_core:
      return "own core";
    case CommCore::hyper_thread:
      return "hyper-thread";
    case CommCore::shared_core:
      return "shared core";
  }
  return "unknown";
}

}  // namespace weft::comm_thread
