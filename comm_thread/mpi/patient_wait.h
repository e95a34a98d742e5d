#pragma once

#include <mpi.h>

namespace weft::comm_thread {

/// Waits for one request without keeping a core from those who have work: MPI's own waiting, and
/// so its blocking collectives, spin or yield without end, which on a core that other ranks share
/// costs each of them whole time slices (see `relax`).
/// Throws MpiError. `doing`: for its message.
void wait_patiently(MPI_Request& request, const char* doing);

}  // namespace weft::comm_thread
