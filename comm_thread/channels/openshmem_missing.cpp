// Replaces openshmem_transport.cpp in builds without OpenSHMEM.
#include "comm_thread/channels/openshmem_transport.h"
#include "comm_thread/mpi/input_error.h"

namespace weft::comm_thread {

bool has_openshmem() { return false; }

std::unique_ptr<Transport> collective_make_openshmem_transport(const Communicator&,
                                                               std::span<const LinkPlan>,
                                                               OpenShmemVariant) {
  throw InputError("transport shmem: this build has no OpenSHMEM; build with --config=oshmem");
}

}  // namespace weft::comm_thread
