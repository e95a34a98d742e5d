#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "comm_thread/placement/finding.h"
#include "comm_thread/placement/node_ranks.h"
#include "comm_thread/placement/pu_sets.h"

namespace weft::comm_thread {

/// Ranks of a node, ascending.
using RankGroup = std::vector<std::size_t>;

/// "rank 0", "ranks 0-3".
std::string name_ranks(const RankGroup& ranks);

/// Home of each rank of a node: the PUs it was bound to, widened within its reach where they are
/// too few.
///
///     4 cores in reach, both ranks on core 0     after widen_short_homes
///     homes {0} {0}: one group                   homes {0 1 2 3} {0 1 2 3}
class RankHomes {
 public:
  /// `threads_wanted`: compute threads per rank, 0: as many as fit. Lifetime: `machine` outlives
  /// it.
  /// Throws std::invalid_argument if a rank is permitted no processor.
  RankHomes(const PuSets& machine, const PuSet& allowed_here, const NodeRanks& node,
            std::size_t threads_wanted);

  /// Widens the homes of ranks with too few cores to all cores in reach that are in no other home.
  void widen_short_homes();

  std::size_t rank_count() const { return homes_.size(); }
  const PuSet& home(std::size_t rank) const { return homes_[rank]; }
  /// Groups of ranks whose homes have cores in common, directly or through others.
  std::vector<RankGroup> groups() const;
  PuSet home_of(const RankGroup& group) const;

  /// Cores in the home of any rank.
  std::set<unsigned> covered_cores() const;
  /// PUs that `rank` is permitted to use, whether or not others use them.
  const PuSet& allowed(std::size_t rank) const { return allowed_[rank]; }

  const std::vector<PlacementFinding>& findings(std::size_t rank) const { return findings_[rank]; }

 private:
  void find_home(std::size_t rank, PuSet allowed, const NodeRanks& node);
  bool is_short(const PuSet& home, std::size_t ranks) const;
  bool is_short(const RankGroup& group) const;
  void widen(const RankGroup& group, const std::set<unsigned>& covered_cores);
  void report_widened(const RankGroup& group, const PuSet& before, const PuSet& after);

  const PuSets& machine_;
  std::size_t threads_wanted_;
  std::vector<PuSet> allowed_;
  std::vector<PuSet> homes_;
  std::vector<PuSet> reach_;  // with the home
  std::vector<std::vector<PlacementFinding>> findings_;
};

}  // namespace weft::comm_thread
