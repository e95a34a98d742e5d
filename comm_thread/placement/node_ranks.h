#pragma once

#include <string>
#include <vector>

#include "comm_thread/placement/cpu_quota.h"

namespace weft::comm_thread {

/// Who keeps ranks to their PUs, and what to do about it.
struct MaskOwner {
  std::string name = "the launcher";
  std::string way_out = "bind ranks to more cores to use them";
};

/// Bindings of the ranks of this node; sets are operating system indexes of PUs.
struct NodeRanks {
  /// PUs to which each rank may bind itself (cgroup, cpuset); empty: the whole machine.
  std::vector<std::vector<unsigned>> allowed_per_rank;
  /// PUs that each rank was given (launcher, taskset, OpenMP's places); empty: all that it may use.
  std::vector<std::vector<unsigned>> bound_per_rank;
  /// PUs that each rank may take where those are too few; empty: no others.
  std::vector<std::vector<unsigned>> reach_per_rank;
  /// Processor time of each rank; without a quota empty.
  std::vector<std::vector<CpuQuota>> quotas_per_rank;
  int this_rank_on_node = 0;
  MaskOwner mask_owner{};
};

}  // namespace weft::comm_thread
