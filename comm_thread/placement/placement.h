#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm_thread/placement/cpu_quota.h"
#include "comm_thread/placement/finding.h"
#include "comm_thread/placement/node_ranks.h"
#include "comm_thread/placement/topology.h"

namespace weft::comm_thread {

/// Kind of core that the communication thread runs on; it decides how the thread may wait.
enum class CommCore {
  own_core,  ///< no compute thread on this core
  hyper_thread,  ///< a free hardware thread of a core that also computes
  shared_core,  ///< on the PU of the last compute thread
};

/// "own core", "hyper-thread", "shared core".
std::string to_string(CommCore comm_core);

/// `threads_wanted`: compute threads per rank, the same on all ranks; 0: as many as fit.
/// `strict`: if `threads_wanted` is given, refuse rather than let two compute threads share a PU.
struct PlacementRequest {
  NodeRanks node;
  int threads_wanted = 0;
  bool strict = false;
};

/// PUs of the threads of one rank.
struct Placement {
  /// One PU per compute thread, at least one; entries repeat only if `oversubscribed`.
  std::vector<unsigned> compute_pus;
  unsigned communication_pu = 0;
  CommCore comm_core = CommCore::shared_core;
  /// True if a PU of this rank has more than one compute thread, of this rank or another.
  bool oversubscribed = false;
  /// All PUs on which threads of this rank may run.
  std::vector<unsigned> home;
  /// The quota of processor time that leaves this rank least; none: there is no quota.
  std::optional<QuotaShare> quota;
  std::vector<PlacementFinding> findings;
  bool operator==(const Placement&) const = default;
};

/// Plans the threads of this rank. A pure function: ranks that pass the same node data get
/// consistent plans.
///
/// 1. The *home* of a rank is the set of PUs it was given. Ranks with the same home divide it
/// into
///    contiguous slices of cores, NUMA domain by NUMA domain; slices cross domains only if a rank
///    would otherwise lack cores for the threads wanted (with 0 wanted: get less than half of an
///    even share). Homes that overlap in part are dealt core by core.
/// 2. A home is widened, to all the cores in reach of its rank that are in no other home, when it
/// has fewer cores than ranks, fewer PUs than threads wanted, or so few cores that all
///    threads of a rank would be on one.
/// 3. Threads wanted = 0: one per core of the slice. With at least 8 cores per rank and no free
///    hyper-thread, the last core is left to the communication thread. A quota of processor time
///    limits them further (threads_for), divided by the ranks that share it.
/// 4. The communication thread gets, in this order: a core of its own (the one after the last
///    compute thread), a free hyper-thread (of the last compute thread's core if possible), the PU
///    of the last compute thread.
/// 5. More ranks than cores: hardware threads are dealt instead; more ranks than those: threads go
///    round the PUs in turn. More threads than PUs in a slice go round the slice. All is reported.
///
/// Throws std::invalid_argument when the request contradicts itself (sizes, index out of range).
Placement plan_placement(const Topology& topology, const PlacementRequest& request);

/// Returns the plans of all ranks on the node, in rank order; ignores `this_rank_on_node`.
std::vector<Placement> plan_node(const Topology& topology, const PlacementRequest& request);

}  // namespace weft::comm_thread
