#pragma once

#include <vector>

namespace weft::comm_thread {

/// What is known of the ranks on this node; sets are operating system indexes of PUs.
struct NodeRanks {
  /// What each rank could bind itself to at most (cgroup, cpuset); empty: the whole machine.
  std::vector<std::vector<unsigned>> allowed_per_rank;
  /// What each rank was bound to when it started (launcher, taskset); empty: all it is allowed.
  std::vector<std::vector<unsigned>> bound_per_rank;
  int this_rank_on_node = 0;
};

}  // namespace weft::comm_thread
