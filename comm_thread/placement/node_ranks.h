#pragma once

#include <vector>

namespace weft::comm_thread {

/// Bindings of the ranks of this node; sets are operating system indexes of PUs.
struct NodeRanks {
  /// PUs to which each rank may bind itself (cgroup, cpuset); empty: the whole machine.
  std::vector<std::vector<unsigned>> allowed_per_rank;
  /// PUs to which each rank was bound when it started (launcher, taskset); empty: all that it may
  /// use.
  std::vector<std::vector<unsigned>> bound_per_rank;
  int this_rank_on_node = 0;
};

}  // namespace weft::comm_thread
