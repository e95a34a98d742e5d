#pragma once

#include <mpi.h>

namespace weft::comm_thread {

/// Waits for one request without occupying a shared core: MPI's own waits, and so its blocking
/// collectives, spin or yield without end, which costs the other ranks of the core whole time
/// slices (see `relax`).
/// Throws MpiError; `doing`: the operation, for its message.
void wait_patiently(MPI_Request& request, const char* doing);

/// The same for so long at most; false where the request is not complete then.
bool wait_patiently_for(MPI_Request& request, double limit_seconds, const char* doing);

}  // namespace weft::comm_thread
