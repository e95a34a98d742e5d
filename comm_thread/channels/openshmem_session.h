#pragma once

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Starts OpenSHMEM beside MPI on the first call, and does nothing on later ones. It ends with the
/// MpiSession.
///
/// Where MPI gives MPI_THREAD_MULTIPLE, OpenSHMEM must give the same: MPI calls of any thread move
/// its messages as well.
/// Collective over all ranks of the job. Thread: one at a time. Lifetime: inside an MpiSession.
/// Throws InputError, on all ranks, when the library gives less, or `communicator` has not all
/// ranks of the job.
void collective_start_openshmem(const Communicator& communicator);

}  // namespace weft::comm_thread
