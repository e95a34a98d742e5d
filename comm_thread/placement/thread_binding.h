#pragma once

#include <optional>
#include <vector>

#include "comm_thread/placement/finding.h"
#include "comm_thread/placement/topology.h"

namespace weft::comm_thread {

/// Pins the calling thread to one PU; returns a finding if that fails.
std::optional<PlacementFinding> bind_this_thread(const Topology& topology, unsigned pu);

/// PUs the calling thread may run on now; at the start of `main`, its `bound_per_rank`.
/// Empty if unknown or if the topology is not this machine.
std::vector<unsigned> binding_of_this_thread(const Topology& topology);

/// The PU the calling thread last ran on.
std::optional<unsigned> last_cpu_of_this_thread(const Topology& topology);

/// PUs to which this process may bind itself, found by trying: its `allowed_per_rank`. Detects
/// limits that no file shows (a cgroup outside of a container). Restores the binding before it
/// returns.
/// Thread: the main thread, before any is pinned.
std::vector<unsigned> permitted_pus_of_this_process(const Topology& topology);

}  // namespace weft::comm_thread
