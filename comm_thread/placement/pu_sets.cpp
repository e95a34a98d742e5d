#include "comm_thread/placement/pu_sets.h"

#include <algorithm>
#include <iterator>

#include "comm_thread/placement/number_words.h"

namespace weft::comm_thread {

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

PuSets::PuSets(const Topology& topology) : pus_(topology.pus()) {
  for (std::size_t i = 0; i < pus_.size(); ++i) position_of_[pus_[i].os_index] = i;
}

PuSet PuSets::from_os_indexes(std::span<const unsigned> os_indexes) const {
  PuSet set;
  for (const unsigned os_index : os_indexes)
    if (const auto found = position_of_.find(os_index); found != position_of_.end())
      set.push_back(found->second);
  std::ranges::sort(set);
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

std::set<unsigned> PuSets::core_numbers(const PuSet& set) const {
  std::set<unsigned> cores;
  for (const std::size_t pu : set) cores.insert(pus_[pu].core);
  return cores;
}

std::vector<CoreUnit> PuSets::cores_of(const PuSet& set) const {
  std::vector<CoreUnit> cores;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const PuLocation& pu = pus_[set[i]];
    if (i == 0 || pu.core != pus_[set[i - 1]].core) cores.push_back({pu.numa_domain, {}});
    cores.back().pus.push_back(set[i]);
  }
  return cores;
}

std::vector<CoreUnit> PuSets::single_pus_of(const PuSet& set) const {
  std::vector<CoreUnit> units;
  for (const std::size_t pu : set) units.push_back({pus_[pu].numa_domain, {pu}});
  return units;
}

PuSet PuSets::without_cores(PuSet set, const std::set<unsigned>& cores) const {
  std::erase_if(set, [&](std::size_t pu) { return cores.contains(pus_[pu].core); });
  return set;
}

std::string PuSets::name(const PuSet& set) const {
  std::vector<unsigned> os_indexes;
  for (const std::size_t pu : set) os_indexes.push_back(pus_[pu].os_index);
  std::ranges::sort(os_indexes);
  std::string text = set.size() == 1 ? "PU " : "PUs ";
  text += format_list(os_indexes);
  return text;
}

}  // namespace weft::comm_thread
