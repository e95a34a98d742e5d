#include "comm_thread/placement/rank_homes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm_thread/placement/number_words.h"

namespace weft::comm_thread {

std::string name_ranks(const RankGroup& ranks) {
  const std::vector<unsigned> numbers(ranks.begin(), ranks.end());
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  text += format_list(numbers);
  return text;
}

RankHomes::RankHomes(const PuSets& machine, const PuSet& allowed_here, const NodeRanks& node,
                     std::size_t threads_wanted)
    : machine_(machine), threads_wanted_(threads_wanted), findings_(node.allowed_per_rank.size()) {
  for (std::size_t rank = 0; rank < findings_.size(); ++rank) {
    PuSet allowed = machine_.from_os_indexes(node.allowed_per_rank[rank]);
    if (allowed.empty()) allowed = allowed_here;
    if (allowed.empty()) throw std::invalid_argument("placement: no processor is permitted");
    find_home(rank, std::move(allowed), node);
  }
}

void RankHomes::find_home(std::size_t rank, PuSet allowed, const NodeRanks& node) {
  const std::vector<unsigned>& bound = node.bound_per_rank[rank];
  PuSet home = intersection(machine_.from_os_indexes(bound), allowed);
  const bool is_foreign = home.empty() && !bound.empty();
  if (home.empty()) home = allowed;
  if (is_foreign)
    findings_[rank].push_back(
        {FindingSeverity::repaired, "bound to PUs " + format_list(bound) +
                                        ", none of which is permitted here: using " +
                                        machine_.name(home)});
  if (allowed.size() < machine_.pu_count())
    findings_[rank].push_back(
        {FindingSeverity::note, "the cpuset permits " + machine_.name(allowed) + " of " +
                                    counted(machine_.pu_count(), "PU") + " of this machine"});
  reach_.push_back(
      union_of(home, intersection(machine_.from_os_indexes(node.reach_per_rank[rank]), allowed)));
  allowed_.push_back(std::move(allowed));
  homes_.push_back(std::move(home));
}

std::vector<RankGroup> RankHomes::groups() const {
  std::vector<std::size_t> label(homes_.size());
  std::iota(label.begin(), label.end(), std::size_t{0});
  std::map<unsigned, std::size_t> rank_on_core;
  for (std::size_t rank = 0; rank < homes_.size(); ++rank)
    for (const unsigned core : machine_.core_numbers(homes_[rank])) {
      const auto [first, is_new] = rank_on_core.try_emplace(core, rank);
      const std::size_t other = label[first->second];
      if (!is_new && other != label[rank]) std::ranges::replace(label, label[rank], other);
    }
  std::map<std::size_t, RankGroup> by_label;
  for (std::size_t rank = 0; rank < homes_.size(); ++rank) by_label[label[rank]].push_back(rank);
  std::vector<RankGroup> groups;
  for (auto& [unused, group] : by_label) groups.push_back(std::move(group));
  return groups;
}

PuSet RankHomes::home_of(const RankGroup& group) const {
  PuSet all;
  for (const std::size_t rank : group) all = union_of(all, homes_[rank]);
  return all;
}

std::set<unsigned> RankHomes::covered_cores() const {
  PuSet all;
  for (std::size_t rank = 0; rank < homes_.size(); ++rank)
    if (rank == 0 || homes_[rank] != homes_[rank - 1]) all = union_of(all, homes_[rank]);
  return machine_.core_numbers(all);
}

/// True with fewer cores than ranks, fewer PUs than threads, or all threads of a rank on one core.
bool RankHomes::is_short(const PuSet& home, std::size_t ranks) const {
  const std::size_t cores = machine_.core_count(home);
  return ranks > cores || ranks * threads_wanted_ > home.size() ||
         (threads_wanted_ > 1 && cores < 2 * ranks);
}

bool RankHomes::is_short(const RankGroup& group) const {
  return is_short(home_of(group), group.size()) ||
         std::ranges::any_of(group, [&](std::size_t rank) { return is_short(homes_[rank], 1); });
}

void RankHomes::widen_short_homes() {
  std::vector<RankGroup> short_groups;
  std::set<unsigned> covered_cores;
  for (RankGroup& group : groups()) {
    if (is_short(group))
      short_groups.push_back(std::move(group));
    else
      covered_cores.merge(machine_.core_numbers(home_of(group)));
  }
  for (const RankGroup& group : short_groups) widen(group, covered_cores);
}

void RankHomes::widen(const RankGroup& group, const std::set<unsigned>& covered_cores) {
  const PuSet before = home_of(group);
  for (const std::size_t rank : group)
    homes_[rank] = union_of(homes_[rank], machine_.without_cores(reach_[rank], covered_cores));
  const PuSet after = home_of(group);
  if (after != before) report_widened(group, before, after);
}

void RankHomes::report_widened(const RankGroup& group, const PuSet& before, const PuSet& after) {
  const std::string text =
      name_ranks(group) + (group.size() == 1 ? " was" : " were") + " bound to " +
      machine_.name(before) + " (" + counted(machine_.core_count(before), "core") +
      "), too few, while others were free: rebound within " + machine_.name(after);
  for (const std::size_t rank : group) findings_[rank].push_back({FindingSeverity::repaired, text});
}

}  // namespace weft::comm_thread
