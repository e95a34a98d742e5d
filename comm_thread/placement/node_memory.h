#pragma once

#include <string>

#include "comm_thread/mpi/launcher_check.h"

namespace weft::comm_thread {

/// Memory that the processes of this node may still take, and what sets that limit.
struct NodeMemory {
  double available_bytes = 0;
  std::string limited_by;  // "this node has free", "the cgroup leaves", "Slurm allocates"
};

/// The smallest of what /proc/meminfo calls available, what the control groups of this process
/// (version 1 and 2) leave, and what Slurm allocates to the job on this node. `variable`: of the
/// environment, where Slurm tells; may be null.
NodeMemory node_memory(const Variable& variable);

/// Memory that this process occupies now, and the most that it has occupied so far. 0 where the
/// system does not tell.
double resident_bytes();
double peak_resident_bytes();

/// Pages that this process has touched for the first time so far, of any size.
double page_fault_count();

/// Memory that MPI took when it began, as far as the program has noted it.
/// Thread: the main thread.
double& mpi_bytes();

/// "1.5 GB", "120 MB".
std::string bytes_in_words(double bytes);

}  // namespace weft::comm_thread
