#pragma once

#include <optional>
#include <vector>

#include "comm_thread/placement/finding.h"
#include "comm_thread/placement/topology.h"

namespace weft::comm_thread {

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

}  // namespace weft::comm_thread
