#pragma once

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Starts OpenSHMEM beside MPI on the first call, and does nothing on later ones. It ends with the
/// MpiSession.
///
/// If MPI provides MPI_THREAD_MULTIPLE, OpenSHMEM must as well: MPI calls of any thread also
/// progress its messages.
/// Collective over all ranks of the job. Thread: one at a time. Lifetime: inside an MpiSession.
/// Throws InputError, on all ranks, if the library provides less, or `communicator` lacks ranks of
/// the job.
void collective_start_openshmem(const Communicator& communicator);

}  // namespace weft::comm_thread
