#pragma once

#include <optional>
#include <span>
#include <vector>

#include "comm_thread/placement/finding.h"
#include "comm_thread/placement/topology.h"

namespace weft::comm_thread {

/// Planned and actual position of one thread.
struct ThreadAudit {
  int rank_on_node = 0;
  /// Compute thread number, or -1 for the communication thread.
  int thread = 0;
  unsigned planned_pu = 0;
  /// PUs the thread may run on; empty: unknown.
  std::vector<unsigned> binding;
  std::optional<unsigned> last_cpu;
};

/// Returns the position of the calling thread.
ThreadAudit audit_this_thread(const Topology& topology, int rank_on_node, int thread,
                              unsigned planned_pu);

/// Compares plan and reality for the threads of a rank or of all ranks of a node: threads not
/// pinned, pinned or running elsewhere, two on one PU, all compute threads of a rank on one core.
/// Returns nothing if all is as planned and no two compute threads share a PU. A pure function.
std::vector<PlacementFinding> audit(const Topology& topology, std::span<const ThreadAudit> threads);

}  // namespace weft::comm_thread
