#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm_thread/topology.h"

namespace weft::comm_thread {

/// What the communication thread runs on; decides how it may wait.
enum class CommCore {
  own_core,      ///< no compute thread on this core
  hyper_thread,  ///< a free hardware thread of a core that also computes
  shared_core,   ///< on the PU of the last compute thread
};

enum class FindingSeverity {
  note,      ///< worth knowing
  repaired,  ///< was wrong, has been put right
  warning,   ///< is wrong or slow and stays so
  refused,   ///< the request cannot be met: do not run
};

/// One line for the user about where threads are. What concerns several ranks has the same text on
/// each of them, so that equal lines may be shown once.
struct PlacementFinding {
  FindingSeverity severity = FindingSeverity::note;
  std::string text;
  bool operator==(const PlacementFinding&) const = default;
};

/// What is known of the ranks on this node; sets are operating system indexes of PUs.
struct NodeRanks {
  /// What each rank could bind itself to at most (cgroup, cpuset); empty: the whole machine.
  std::vector<std::vector<unsigned>> allowed_per_rank;
  /// What each rank was bound to when it started (launcher, taskset); empty: all it is allowed.
  std::vector<std::vector<unsigned>> bound_per_rank;
  int this_rank_on_node = 0;
};

/// `threads_wanted`: compute threads per rank, the same on all ranks; 0: as many as fit.
/// `strict`: refuse rather than let two compute threads share a PU when `threads_wanted` is given.
struct PlacementRequest {
  NodeRanks node;
  int threads_wanted = 0;
  bool strict = false;
};

/// Where the threads of one rank go.
struct Placement {
  /// One PU per compute thread, at least one; equal entries only when `oversubscribed`.
  std::vector<unsigned> compute_pus;
  unsigned communication_pu = 0;
  CommCore comm_core = CommCore::shared_core;
  /// A PU of this rank has more than one compute thread, of this rank or another.
  bool oversubscribed = false;
  std::vector<PlacementFinding> findings;
  bool operator==(const Placement&) const = default;
};

/// Plans the threads of this rank. A pure function: ranks that pass the same node data get plans
/// that fit together.
///
/// 1. A rank lives in its *home*: what it was bound to. Ranks with the same home divide it into
///    contiguous slices of cores, NUMA domain by NUMA domain; slices cross domains only if a rank
///    would otherwise lack cores for the threads wanted (with 0 wanted: get less than half of an
///    even share). Homes that overlap in part are dealt core by core.
/// 2. A home is widened, to all the cores that its rank is allowed and that are in no other home,
///    when it has fewer cores than ranks, fewer PUs than threads wanted, or so few cores that all
///    threads of a rank would be on one.
/// 3. Threads wanted = 0: one per core of the slice. With at least 8 cores per rank and no free
///    hyper-thread, the last core is left to the communication thread.
/// 4. The communication thread gets, in this order: a core of its own (the one after the last
///    compute thread), a free hyper-thread (of the last compute thread's core if possible), the PU
///    of the last compute thread.
/// 5. More ranks than cores: hardware threads are dealt instead; more ranks than those: threads go
///    round the PUs in turn. More threads than PUs in a slice go round the slice. All is reported.
///
/// Throws std::invalid_argument when the request contradicts itself (sizes, index out of range).
Placement plan_placement(const Topology& topology, const PlacementRequest& request);

/// The plans of all ranks on the node, in rank order; `this_rank_on_node` is not used.
std::vector<Placement> plan_node(const Topology& topology, const PlacementRequest& request);

/// True when a finding says that the program must not run so.
bool is_refused(std::span<const PlacementFinding> findings);

/// Pins the calling thread to one PU; returns what went wrong, if anything.
std::optional<PlacementFinding> bind_this_thread(const Topology& topology, unsigned pu);

/// PUs the calling thread may run on now: `bound_per_rank` when called at the start of `main`.
/// Empty when unknown or when the topology is not this machine.
std::vector<unsigned> binding_of_this_thread(const Topology& topology);

/// The PU the calling thread last ran on.
std::optional<unsigned> last_cpu_of_this_thread(const Topology& topology);

/// PUs this process could bind itself to, found by trying: `allowed_per_rank`. Sees limits that no
/// file shows (a cgroup outside of a container). The binding is put back before it returns.
/// Thread: the main thread, before any is pinned.
std::vector<unsigned> permitted_pus_of_this_process(const Topology& topology);

/// Where one thread was meant to be and where it is.
struct ThreadAudit {
  int rank_on_node = 0;
  /// Compute thread number, or -1 for the communication thread.
  int thread = 0;
  unsigned planned_pu = 0;
  /// PUs it may run on; empty: unknown.
  std::vector<unsigned> binding;
  std::optional<unsigned> last_cpu;
};

/// Reads back where the calling thread is.
ThreadAudit audit_this_thread(const Topology& topology, int rank_on_node, int thread,
                              unsigned planned_pu);

/// Compares plan and reality for the threads of a rank or of all ranks of a node: threads not
/// pinned, pinned or running elsewhere, two on one PU, all compute threads of a rank on one core.
/// A pure function; empty when all is as planned and no two compute threads meet.
std::vector<PlacementFinding> audit(const Topology& topology, std::span<const ThreadAudit> threads);

/// "own core", "hyper-thread", "shared core".
std::string to_string(CommCore comm_core);
/// "note", "repaired", "warning", "refused".
std::string to_string(FindingSeverity severity);
/// Numbers as a short list, such as "0-7,16".
std::string format_list(std::span<const unsigned> numbers);

}  // namespace weft::comm_thread
