#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/placement/core_slices.h"
#include "comm_thread/placement/topology.h"

namespace weft::comm_thread {

/// PUs as ascending positions in `Topology::pus()`, where neighbours in hardware are adjacent.
using PuSet = std::vector<std::size_t>;

PuSet intersection(const PuSet& a, const PuSet& b);
PuSet union_of(const PuSet& a, const PuSet& b);

/// Translates between sets of PUs, operating system indexes and cores of one machine.
/// Lifetime: the topology outlives it.
class PuSets {
 public:
  explicit PuSets(const Topology& topology);

  std::size_t pu_count() const { return pus_.size(); }
  const PuLocation& location(std::size_t position) const { return pus_[position]; }
  /// Throws std::out_of_range for a PU this machine does not have.
  std::size_t position_of(unsigned os_index) const { return position_of_.at(os_index); }
  const PuLocation& location_of(unsigned os_index) const { return pus_[position_of(os_index)]; }

  /// Ignores PUs that this machine does not have.
  PuSet from_os_indexes(std::span<const unsigned> os_indexes) const;

  std::set<unsigned> core_numbers(const PuSet& set) const;
  std::size_t core_count(const PuSet& set) const { return core_numbers(set).size(); }

  /// Returns one unit per core, with its PUs in `set`.
  std::vector<CoreUnit> cores_of(const PuSet& set) const;
  /// Returns one unit per PU.
  std::vector<CoreUnit> single_pus_of(const PuSet& set) const;

  /// Returns `set` without the PUs on any of `cores`.
  PuSet without_cores(PuSet set, const std::set<unsigned>& cores) const;

  /// Operating system indexes as text: "PU 3", "PUs 0-7,16".
  std::string name(const PuSet& set) const;

 private:
  std::span<const PuLocation> pus_;
  std::map<unsigned, std::size_t> position_of_;
};

}  // namespace weft::comm_thread
