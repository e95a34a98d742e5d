#include "comm_thread/placement.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace weft::comm_thread {
namespace {

/// PUs as ascending positions in `Topology::pus()`, where neighbours in hardware are neighbours.
using PuSet = std::vector<std::size_t>;

/// What is dealt to ranks: a core (its usable PUs) or a single PU.
struct Unit {
  unsigned numa_domain = 0;
  PuSet pus;
};

/// A contiguous run of units.
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

/// Ranks (ascending) whose homes have cores in common, directly or through others.
using Group = std::vector<std::size_t>;

PuSet intersection(const PuSet& a, const PuSet& b) {
  PuSet result;
  std::ranges::set_intersection(a, b, std::back_inserter(result));
  return result;
}

PuSet union_of(const PuSet& a, const PuSet& b) {
  PuSet result;
  std::ranges::set_union(a, b, std::back_inserter(result));
  return result;
}

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// Cuts `count` units, the first of them `begin`, into slices that differ by at most one.
std::vector<Slice> even_slices(std::size_t begin, std::size_t count, std::size_t slice_count) {
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < slice_count; ++i)
    slices.push_back({begin + i * count / slice_count, begin + (i + 1) * count / slice_count});
  return slices;
}

std::vector<Slice> find_domains(std::span<const Unit> units) {
  std::vector<Slice> domains;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i == 0 || units[i].numa_domain != units[i - 1].numa_domain) domains.push_back({i, i});
    domains.back().end = i + 1;
  }
  return domains;
}

/// How many of `slice_count` slices each domain holds: in proportion to its units, the largest
/// remainders rounded up.
std::vector<std::size_t> slices_per_domain(std::span<const Slice> domains, std::size_t unit_count,
                                           std::size_t slice_count) {
  std::vector<std::size_t> counts;
  for (const Slice& domain : domains) counts.push_back(domain.size() * slice_count / unit_count);
  std::vector<std::size_t> order(domains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto remainder = [&](std::size_t domain) {
    return domains[domain].size() * slice_count % unit_count;
  };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return remainder(a) != remainder(b) ? remainder(a) > remainder(b) : a < b;
  });
  const std::size_t dealt = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  for (std::size_t i = 0; i < slice_count - dealt; ++i) ++counts[order[i]];
  return counts;
}

/// Slices that do not cross domains, or, with fewer slices than domains, consist of whole ones.
std::vector<Slice> slices_along_domains(std::span<const Unit> units, std::size_t slice_count) {
  const std::vector<Slice> domains = find_domains(units);
  std::vector<Slice> slices;
  if (slice_count < domains.size()) {
    for (const Slice& run : even_slices(0, domains.size(), slice_count))
      slices.push_back({domains[run.begin].begin, domains[run.end - 1].end});
    return slices;
  }
  const std::vector<std::size_t> counts = slices_per_domain(domains, units.size(), slice_count);
  for (std::size_t d = 0; d < domains.size(); ++d)
    for (const Slice& slice : even_slices(domains[d].begin, domains[d].size(), counts[d]))
      slices.push_back(slice);
  return slices;
}

/// Rule 1: along domains, unless that costs a rank too much.
std::vector<Slice> cut_slices(std::span<const Unit> units, std::size_t slice_count,
                              std::size_t threads_wanted) {
  const std::vector<Slice> along = slices_along_domains(units, slice_count);
  const std::vector<Slice> even = even_slices(0, units.size(), slice_count);
  const std::size_t smallest_along = std::ranges::min(along, {}, &Slice::size).size();
  const std::size_t smallest_even = std::ranges::min(even, {}, &Slice::size).size();
  const bool along_suffices = threads_wanted > 0
                                  ? smallest_along >= std::min(threads_wanted, smallest_even)
                                  : 2 * smallest_along >= smallest_even;
  return along_suffices ? along : even;
}

/// Deals units to ranks that may each use only some of them (maximum bipartite matching by
/// augmenting paths). Every rank gets one unit before any gets a second.
class UnitMatching {
 public:
  UnitMatching(std::span<const Unit> units, std::vector<std::vector<std::size_t>> usable_units)
      : usable_units_(std::move(usable_units)), owner_(units.size(), nobody) {}

  void deal(std::size_t units_per_rank) {
    bool progress = true;
    for (std::size_t round = 0; round < units_per_rank && progress; ++round) {
      progress = false;
      for (std::size_t rank = 0; rank < usable_units_.size(); ++rank) {
        visited_.assign(owner_.size(), false);
        progress |= give_one_more(rank);
      }
    }
  }

  std::vector<std::size_t> units_of(std::size_t rank) const {
    std::vector<std::size_t> units;
    for (std::size_t unit = 0; unit < owner_.size(); ++unit)
      if (owner_[unit] == rank) units.push_back(unit);
    return units;
  }

 private:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  /// Takes a unit that is free, or one whose owner can be given another.
  bool give_one_more(std::size_t rank) {
    for (const std::size_t unit : usable_units_[rank]) {
      if (visited_[unit] || owner_[unit] == rank) continue;
      visited_[unit] = true;
      if (owner_[unit] == nobody || give_one_more(owner_[unit])) {
        owner_[unit] = rank;
        return true;
      }
    }
    return false;
  }

  std::vector<std::vector<std::size_t>> usable_units_;
  std::vector<std::size_t> owner_;
  std::vector<bool> visited_;
};

/// Plans a whole node; what happens to a rank follows `plan()` from top to bottom.
class NodePlanner {
 public:
  NodePlanner(const Topology& topology, const PlacementRequest& request)
      : topology_(topology),
        pus_(topology.pus()),
        wanted_(static_cast<std::size_t>(request.threads_wanted)),
        strict_(request.strict),
        rank_count_(request.node.allowed_per_rank.size()),
        slices_(rank_count_),
        turns_(rank_count_),
        plans_(rank_count_) {
    for (std::size_t i = 0; i < pus_.size(); ++i) position_of_[pus_[i].os_index] = i;
    for (std::size_t rank = 0; rank < rank_count_; ++rank) find_home(rank, request.node);
  }

  std::vector<Placement> plan() && {
    widen_short_homes();
    for (const Group& group : find_groups()) deal(group);
    for (std::size_t rank = 0; rank < rank_count_; ++rank) place_threads(rank);
    name_comm_cores();
    report_idle_cores();
    for (std::size_t rank = 0; rank < rank_count_; ++rank) report_on_rank(rank);
    report_shared_pus();
    report_shared_cores();
    return std::move(plans_);
  }

 private:
  static constexpr std::size_t no_turns = static_cast<std::size_t>(-1);

  void add(std::size_t rank, FindingSeverity severity, std::string text) {
    plans_[rank].findings.push_back({severity, std::move(text)});
  }

  PuSet positions_of(std::span<const unsigned> os_indexes) const {
    PuSet positions;
    for (const unsigned os_index : os_indexes)
      if (const auto found = position_of_.find(os_index); found != position_of_.end())
        positions.push_back(found->second);
    std::ranges::sort(positions);
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    return positions;
  }

  std::string name_pus(const PuSet& set) const {
    std::vector<unsigned> os_indexes;
    for (const std::size_t pu : set) os_indexes.push_back(pus_[pu].os_index);
    std::ranges::sort(os_indexes);
    return (set.size() == 1 ? "PU " : "PUs ") + format_list(os_indexes);
  }

  static std::string name_ranks(const Group& ranks) {
    const std::vector<unsigned> numbers(ranks.begin(), ranks.end());
    return (ranks.size() == 1 ? "rank " : "ranks ") + format_list(numbers);
  }

  std::size_t core_count(const PuSet& set) const {
    std::set<unsigned> cores;
    for (const std::size_t pu : set) cores.insert(pus_[pu].core);
    return cores.size();
  }

  std::vector<Unit> cores_of(const PuSet& set) const {
    std::vector<Unit> cores;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const PuLocation& pu = pus_[set[i]];
      if (i == 0 || pu.core != pus_[set[i - 1]].core) cores.push_back({pu.numa_domain, {}});
      cores.back().pus.push_back(set[i]);
    }
    return cores;
  }

  std::vector<Unit> single_pus_of(const PuSet& set) const {
    std::vector<Unit> units;
    for (const std::size_t pu : set) units.push_back({pus_[pu].numa_domain, {pu}});
    return units;
  }

  // Homes ----------------------------------------------------------------------------------------

  void find_home(std::size_t rank, const NodeRanks& node) {
    PuSet allowed = positions_of(node.allowed_per_rank[rank]);
    if (allowed.empty()) allowed = positions_of(topology_.allowed_pus());
    if (allowed.empty()) throw std::invalid_argument("placement: no processor is permitted");
    PuSet home = intersection(positions_of(node.bound_per_rank[rank]), allowed);
    const bool foreign = home.empty() && !node.bound_per_rank[rank].empty();
    if (home.empty()) home = allowed;
    if (foreign)
      add(rank, FindingSeverity::repaired,
          "bound to PUs " + format_list(node.bound_per_rank[rank]) +
              ", none of which is permitted here: using " + name_pus(home));
    if (allowed.size() < pus_.size())
      add(rank, FindingSeverity::note,
          "the cpuset permits " + name_pus(allowed) + " of " +
              counted(pus_.size(), "PU") + " of this machine");
    allowed_.push_back(std::move(allowed));
    homes_.push_back(std::move(home));
  }

  std::vector<Group> find_groups() const {
    std::vector<std::size_t> label(rank_count_);
    std::iota(label.begin(), label.end(), std::size_t{0});
    std::map<unsigned, std::size_t> rank_on_core;
    for (std::size_t rank = 0; rank < rank_count_; ++rank)
      for (const std::size_t pu : homes_[rank]) {
        const auto [first, is_new] = rank_on_core.try_emplace(pus_[pu].core, rank);
        const std::size_t other = label[first->second];
        if (!is_new && other != label[rank]) std::ranges::replace(label, label[rank], other);
      }
    std::map<std::size_t, Group> groups;
    for (std::size_t rank = 0; rank < rank_count_; ++rank) groups[label[rank]].push_back(rank);
    std::vector<Group> result;
    for (auto& [unused, group] : groups) result.push_back(std::move(group));
    return result;
  }

  PuSet home_of(const Group& group) const {
    PuSet all;
    for (const std::size_t rank : group) all = union_of(all, homes_[rank]);
    return all;
  }

  bool is_short(const PuSet& home, std::size_t ranks) const {
    const std::size_t cores = core_count(home);
    return ranks > cores || ranks * wanted_ > home.size() || (wanted_ > 1 && cores < 2 * ranks);
  }

  bool is_short(const Group& group) const {
    return is_short(home_of(group), group.size()) ||
           std::ranges::any_of(group, [&](std::size_t r) { return is_short(homes_[r], 1); });
  }

  /// Rule 2.
  void widen_short_homes() {
    std::vector<Group> short_groups;
    PuSet covered;
    for (Group& group : find_groups()) {
      if (is_short(group))
        short_groups.push_back(std::move(group));
      else
        covered = union_of(covered, home_of(group));
    }
    for (const Group& group : short_groups) widen(group, covered);
  }

  void widen(const Group& group, const PuSet& covered) {
    std::set<unsigned> covered_cores;
    for (const std::size_t pu : covered) covered_cores.insert(pus_[pu].core);
    const PuSet before = home_of(group);
    for (const std::size_t rank : group) {
      PuSet free = allowed_[rank];
      std::erase_if(free, [&](std::size_t pu) { return covered_cores.contains(pus_[pu].core); });
      homes_[rank] = union_of(homes_[rank], free);
    }
    const PuSet after = home_of(group);
    if (after == before) return;
    const std::string text = name_ranks(group) + (group.size() == 1 ? " was" : " were") +
                             " bound to " + name_pus(before) + " (" +
                             counted(core_count(before), "core") +
                             "), too few, while others were free: rebound within " +
                             name_pus(after);
    for (const std::size_t rank : group) add(rank, FindingSeverity::repaired, text);
  }

  // Slices ---------------------------------------------------------------------------------------

  /// Rules 1 and 5.
  void deal(const Group& group) {
    const bool same_home = std::ranges::all_of(
        group, [&](std::size_t rank) { return homes_[rank] == homes_[group.front()]; });
    if (same_home)
      deal_slices(group);
    else
      deal_by_matching(group);
  }

  void deal_slices(const Group& group) {
    const PuSet& home = homes_[group.front()];
    std::vector<Unit> units = cores_of(home);
    if (group.size() > units.size()) units = single_pus_of(home);
    if (group.size() > units.size()) {
      for (std::size_t i = 0; i < group.size(); ++i) take_turns(group[i], home, i);
      return;
    }
    const std::vector<Slice> slices = cut_slices(units, group.size(), wanted_);
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t unit = slices[i].begin; unit < slices[i].end; ++unit)
        give(group[i], units[unit]);
  }

  void deal_by_matching(const Group& group) {
    const PuSet home = home_of(group);
    const std::size_t limit = wanted_ > 0 ? wanted_ + 1 : home.size();
    if (try_matching(group, cores_of(home), limit)) return;
    if (try_matching(group, single_pus_of(home), limit)) return;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (slices_[group[i]].empty()) take_turns(group[i], homes_[group[i]], i);
  }

  /// Returns whether every rank of the group got something.
  bool try_matching(const Group& group, const std::vector<Unit>& units, std::size_t limit) {
    std::vector<std::vector<std::size_t>> usable(group.size());
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t unit = 0; unit < units.size(); ++unit)
        if (!intersection(units[unit].pus, homes_[group[i]]).empty()) usable[i].push_back(unit);
    UnitMatching matching(units, std::move(usable));
    matching.deal(limit);
    bool all_served = true;
    for (std::size_t i = 0; i < group.size(); ++i) {
      slices_[group[i]].clear();
      for (const std::size_t unit : matching.units_of(i))
        give(group[i], {0, intersection(units[unit].pus, homes_[group[i]])});
      all_served &= !slices_[group[i]].empty();
    }
    return all_served;
  }

  void give(std::size_t rank, const Unit& unit) {
    slices_[rank] = union_of(slices_[rank], unit.pus);
    turns_[rank] = no_turns;
  }

  void take_turns(std::size_t rank, const PuSet& home, std::size_t index_in_group) {
    slices_[rank] = home;
    turns_[rank] = index_in_group;
  }

  // Threads --------------------------------------------------------------------------------------

  /// The PUs of a slice in the order in which threads take them: the first of every core, then the
  /// second of every core, …
  static PuSet order_of_use(const std::vector<Unit>& cores, std::size_t pu_count) {
    PuSet order;
    for (std::size_t level = 0; order.size() < pu_count; ++level)
      for (const Unit& core : cores)
        if (level < core.pus.size()) order.push_back(core.pus[level]);
    return order;
  }

  std::size_t thread_count(std::size_t cores, std::size_t pus) const {
    constexpr std::size_t enough_to_spare_one = 8;
    if (wanted_ > 0) return wanted_;
    return pus == cores && cores >= enough_to_spare_one ? cores - 1 : cores;
  }

  /// Rules 3, 4 and 5.
  void place_threads(std::size_t rank) {
    const std::vector<Unit> cores = cores_of(slices_[rank]);
    const PuSet order = order_of_use(cores, slices_[rank].size());
    const bool in_turns = turns_[rank] != no_turns;
    const std::size_t threads =
        in_turns ? std::max<std::size_t>(wanted_, 1) : thread_count(cores.size(), order.size());
    const std::size_t first = in_turns ? turns_[rank] * threads : 0;
    Placement& plan = plans_[rank];
    for (std::size_t thread = 0; thread < threads; ++thread)
      plan.compute_pus.push_back(pus_[order[(first + thread) % order.size()]].os_index);
    plan.communication_pu = plan.compute_pus.back();
    if (in_turns || threads >= order.size()) return;
    const std::size_t free = threads < cores.size() ? order[threads] : order.back();
    plan.communication_pu = pus_[free].os_index;
  }

  /// Names what each communication thread got, in view of all ranks: where PUs, not cores, were
  /// dealt, a compute thread of another rank may be on the same core.
  void name_comm_cores() {
    std::set<unsigned> computing_pus;
    std::set<unsigned> computing_cores;
    for (const Placement& plan : plans_)
      for (const unsigned pu : plan.compute_pus) {
        computing_pus.insert(pu);
        computing_cores.insert(pus_[position_of_.at(pu)].core);
      }
    for (Placement& plan : plans_) {
      const unsigned core = pus_[position_of_.at(plan.communication_pu)].core;
      plan.comm_core = computing_pus.contains(plan.communication_pu) ? CommCore::shared_core
                       : computing_cores.contains(core)              ? CommCore::hyper_thread
                                                                     : CommCore::own_core;
    }
  }

  // Findings -------------------------------------------------------------------------------------

  template <typename Property>
  std::size_t count_distinct(std::span<const unsigned> os_indexes, Property property) const {
    std::set<unsigned> values;
    for (const unsigned pu : os_indexes) values.insert(pus_[position_of_.at(pu)].*property);
    return values.size();
  }

  /// A launcher that binds a rank to one core is the usual reason for a rank with one thread.
  void report_idle_cores() {
    std::set<unsigned> covered;
    for (const PuSet& home : homes_)
      for (const std::size_t pu : home) covered.insert(pus_[pu].core);
    for (std::size_t rank = 0; rank < rank_count_; ++rank) {
      PuSet idle = allowed_[rank];
      std::erase_if(idle, [&](std::size_t pu) { return covered.contains(pus_[pu].core); });
      if (!idle.empty())
        add(rank, FindingSeverity::note,
            "the launcher left " + counted(core_count(idle), "core") + " idle (" +
                name_pus(idle) + "): bind ranks to more cores to use them");
    }
  }

  void report_on_rank(std::size_t rank) {
    const Placement& plan = plans_[rank];
    const std::size_t used_pus = count_distinct(plan.compute_pus, &PuLocation::os_index);
    const std::size_t used_cores = count_distinct(plan.compute_pus, &PuLocation::core);
    const std::size_t domains = count_distinct(plan.compute_pus, &PuLocation::numa_domain);
    if (used_cores < used_pus)
      add(rank, FindingSeverity::note,
          counted(plan.compute_pus.size(), "compute thread") + " on " +
              counted(used_cores, "core") + ": hyper-threads compute");
    if (domains > 1)
      add(rank, FindingSeverity::note,
          "the compute threads of a rank span " + counted(domains, "NUMA domain") +
              "; one rank per domain keeps memory local");
    if (!topology_.is_this_machine())
      add(rank, FindingSeverity::note, "not the machine this runs on: threads are not pinned");
  }

  /// Says on each rank with a compute thread on a PU that has several: ranks and PUs concerned.
  void report_shared_pus() {
    std::map<std::size_t, std::size_t> load;
    for (const Placement& plan : plans_)
      for (const unsigned pu : plan.compute_pus) ++load[position_of_.at(pu)];
    PuSet crowded;
    std::size_t threads = 0;
    for (const auto& [pu, count] : load)
      if (count > 1) {
        crowded.push_back(pu);
        threads += count;
      }
    if (crowded.empty()) return;
    Group ranks;
    for (std::size_t rank = 0; rank < rank_count_; ++rank)
      if (!intersection(positions_of(plans_[rank].compute_pus), crowded).empty())
        ranks.push_back(rank);
    report_oversubscription(ranks, threads, crowded);
  }

  void report_oversubscription(const Group& ranks, std::size_t threads, const PuSet& crowded) {
    const bool refuse = strict_ && wanted_ > 0;
    const std::string text = counted(threads, "compute thread") + " of " + name_ranks(ranks) +
                             " share " + name_pus(crowded) +
                             (refuse ? "; expected a PU for each: ask for fewer threads or ranks"
                                     : ": they take turns and will be slow");
    for (const std::size_t rank : ranks) {
      plans_[rank].oversubscribed = true;
      add(rank, refuse ? FindingSeverity::refused : FindingSeverity::warning, text);
    }
  }

  /// Two ranks on one core but on different PUs of it.
  void report_shared_cores() {
    std::map<unsigned, std::set<std::size_t>> ranks_on_core;
    for (std::size_t rank = 0; rank < rank_count_; ++rank)
      for (const unsigned pu : plans_[rank].compute_pus)
        ranks_on_core[pus_[position_of_.at(pu)].core].insert(rank);
    std::set<std::size_t> sharing;
    for (const auto& [unused, ranks] : ranks_on_core)
      if (ranks.size() > 1) sharing.insert(ranks.begin(), ranks.end());
    std::erase_if(sharing, [&](std::size_t rank) { return plans_[rank].oversubscribed; });
    const Group ranks(sharing.begin(), sharing.end());
    for (const std::size_t rank : ranks)
      add(rank, FindingSeverity::warning,
          name_ranks(ranks) + " share cores by hyper-threads: fewer cores than ranks are free");
  }

  const Topology& topology_;
  std::span<const PuLocation> pus_;
  std::size_t wanted_;
  bool strict_;
  std::size_t rank_count_;
  std::map<unsigned, std::size_t> position_of_;
  std::vector<PuSet> allowed_;
  std::vector<PuSet> homes_;
  std::vector<PuSet> slices_;
  std::vector<std::size_t> turns_;  // index of a rank that takes turns with others, or no_turns
  std::vector<Placement> plans_;
};

void check(const PlacementRequest& request) {
  const std::size_t ranks = request.node.allowed_per_rank.size();
  if (ranks == 0 || request.node.bound_per_rank.size() != ranks)
    throw std::invalid_argument("placement: allowed and bound sets needed for every rank");
  if (request.node.this_rank_on_node < 0 ||
      static_cast<std::size_t>(request.node.this_rank_on_node) >= ranks)
    throw std::invalid_argument("placement: no such rank on this node");
  if (request.threads_wanted < 0)
    throw std::invalid_argument("placement: negative number of threads");
}

// The audit ---------------------------------------------------------------------------------------

std::string name_of(const ThreadAudit& thread) {
  const std::string rank = "rank " + std::to_string(thread.rank_on_node);
  return thread.thread < 0 ? rank + " communication thread"
                           : rank + " compute thread " + std::to_string(thread.thread);
}

/// The PU a thread is known to be on: the only one it may run on, else the last one seen.
std::optional<unsigned> actual_pu(const ThreadAudit& thread) {
  return thread.binding.size() == 1 ? std::optional(thread.binding.front()) : thread.last_cpu;
}

bool is_known(const ThreadAudit& thread) { return actual_pu(thread).has_value(); }

std::optional<std::string> find_misplacement(const ThreadAudit& thread) {
  const std::string planned = ", planned for PU " + std::to_string(thread.planned_pu);
  if (thread.binding.empty()) return name_of(thread) + " is where nobody knows" + planned;
  if (thread.binding.size() > 1)
    return name_of(thread) + " is not pinned: may run on PUs " + format_list(thread.binding) +
           planned;
  if (thread.binding.front() != thread.planned_pu)
    return name_of(thread) + " is pinned to PU " + std::to_string(thread.binding.front()) + planned;
  if (thread.last_cpu && *thread.last_cpu != thread.planned_pu)
    return name_of(thread) + " ran on PU " + std::to_string(*thread.last_cpu) + planned;
  return std::nullopt;
}

using ThreadList = std::vector<const ThreadAudit*>;

std::string names_of(const ThreadList& threads) {
  std::string names;
  for (const ThreadAudit* thread : threads)
    names += (names.empty() ? "" : thread == threads.back() ? " and " : ", ") + name_of(*thread);
  return names;
}

/// Compute threads may never meet; the communication thread may where it was planned so.
bool meet_wrongly(const ThreadList& threads) {
  const auto computes = [](const ThreadAudit* thread) { return thread->thread >= 0; };
  const auto planned = [](const ThreadAudit* thread) { return thread->planned_pu; };
  return std::ranges::count_if(threads, computes) > 1 ||
         std::ranges::adjacent_find(threads, std::ranges::not_equal_to(), planned) !=
             threads.end();
}

void audit_pus(std::span<const ThreadAudit> threads, std::vector<PlacementFinding>& findings) {
  std::map<unsigned, ThreadList> threads_on_pu;
  for (const ThreadAudit& thread : threads)
    if (const std::optional<unsigned> pu = actual_pu(thread))
      threads_on_pu[*pu].push_back(&thread);
  for (const auto& [pu, on_pu] : threads_on_pu)
    if (meet_wrongly(on_pu))
      findings.push_back({FindingSeverity::warning,
                          names_of(on_pu) + " are all on PU " + std::to_string(pu)});
}

void audit_cores(const Topology& topology, std::span<const ThreadAudit> threads,
                 std::vector<PlacementFinding>& findings) {
  std::map<int, std::pair<std::size_t, std::set<unsigned>>> compute_of_rank;
  for (const ThreadAudit& thread : threads) {
    const std::optional<unsigned> pu = actual_pu(thread);
    if (thread.thread < 0 || !pu) continue;
    auto& [count, cores] = compute_of_rank[thread.rank_on_node];
    ++count;
    if (const std::optional<PuLocation> location = topology.find_pu(*pu))
      cores.insert(location->core);
  }
  for (const auto& [rank, compute] : compute_of_rank)
    if (compute.first > 1 && compute.second.size() == 1)
      findings.push_back({FindingSeverity::warning,
                          "rank " + std::to_string(rank) + ": all " +
                              counted(compute.first, "compute thread") + " are on one core"});
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

bool is_refused(std::span<const PlacementFinding> findings) {
  return std::ranges::find(findings, FindingSeverity::refused, &PlacementFinding::severity) !=
         findings.end();
}

std::optional<PlacementFinding> bind_this_thread(const Topology& topology, unsigned pu) {
  if (!topology.is_this_machine())
    return PlacementFinding{FindingSeverity::note,
                            "not the machine this runs on: threads are not pinned"};
  const int error = topology.bind_calling_thread(std::span(&pu, 1));
  if (error == 0) return std::nullopt;
  return PlacementFinding{FindingSeverity::warning, "cannot pin a thread to PU " +
                                                        std::to_string(pu) + ": " +
                                                        std::strerror(error)};
}

std::vector<unsigned> binding_of_this_thread(const Topology& topology) {
  return topology.binding_of_calling_thread();
}

std::optional<unsigned> last_cpu_of_this_thread(const Topology& topology) {
  return topology.last_pu_of_calling_thread();
}

std::vector<unsigned> permitted_pus_of_this_process(const Topology& topology) {
  const std::vector<unsigned> allowed = topology.allowed_pus();
  const std::vector<unsigned> before = topology.binding_of_calling_thread();
  if (before.empty() || topology.bind_calling_thread(allowed) != 0)
    return before.empty() ? allowed : before;
  const std::vector<unsigned> permitted = topology.binding_of_calling_thread();
  topology.bind_calling_thread(before);
  return permitted.empty() ? before : permitted;
}

ThreadAudit audit_this_thread(const Topology& topology, int rank_on_node, int thread,
                              unsigned planned_pu) {
  return {rank_on_node, thread, planned_pu, topology.binding_of_calling_thread(),
          topology.last_pu_of_calling_thread()};
}

std::vector<PlacementFinding> audit(const Topology& topology,
                                    std::span<const ThreadAudit> threads) {
  if (!threads.empty() && std::ranges::none_of(threads, is_known))
    return {{FindingSeverity::note, "where the threads run cannot be read back here"}};
  std::vector<PlacementFinding> findings;
  for (const ThreadAudit& thread : threads)
    if (std::optional<std::string> text = find_misplacement(thread))
      findings.push_back({FindingSeverity::warning, std::move(*text)});
  audit_pus(threads, findings);
  audit_cores(topology, threads, findings);
  return findings;
}

std::string to_string(CommCore comm_core) {
  switch (comm_core) {
    case CommCore::own_core: return "own core";
    case CommCore::hyper_thread: return "hyper-thread";
    case CommCore::shared_core: return "shared core";
  }
  return "unknown";
}

std::string to_string(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::note: return "note";
    case FindingSeverity::repaired: return "repaired";
    case FindingSeverity::warning: return "warning";
    case FindingSeverity::refused: return "refused";
  }
  return "unknown";
}

std::string format_list(std::span<const unsigned> numbers) {
  std::string list;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(numbers[i]);
    if (last > i) list += last == i + 1 ? ',' : '-';
    if (last > i) list += std::to_string(numbers[last]);
    i = last + 1;
  }
  return list;
}

}  // namespace weft::comm_thread
