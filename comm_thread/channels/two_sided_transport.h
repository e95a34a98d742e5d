#pragma once

#include <memory>
#include <span>

#include "comm_thread/channels/transport.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Links of persistent synchronous sends and receives: a ring of requests per direction.
///
/// All receives are posted at all times, so a message always finds its buffer, and a send completes
/// when its receive has matched it: that is the acknowledgement. Only the oldest request of a ring
/// is tested, whatever the number of slots, because MPI matches in order. `collective_close`
/// matches the posted receives with empty messages: nothing is cancelled.
///
/// Collective. Lifetime: inside an MpiSession; `communicator` is duplicated.
/// Throws InputError for ends that disagree and for messages above 2 GiB.
/// Source: Bethune et al. 2012, section 3.1.2 (their rings of MPI_Issend and MPI_Irecv).
std::unique_ptr<Transport> collective_make_two_sided_transport(const Communicator& communicator,
                                                               std::span<const LinkPlan> plans);

}  // namespace weft::comm_thread
