#pragma once

#include <memory>
#include <span>

#include "comm_thread/channels/transport.h"
#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// True if this build has OpenSHMEM (`--config=oshmem`).
bool has_openshmem();

/// Links of OpenSHMEM puts into the neighbour's symmetric memory: put, fence, put.
///
///     symmetric memory of a rank, per link:  | acknowledged | arrived | slot 1 | … | slot R |
///                                              by the         by the    by the sender
///                                              receiver       sender
///
///     sender                                     receiver
///     put message 5 → slot 5; fence;
///     put arrived = 5                        →   tests arrived ≥ 5, reads slot 5
///     may start message 5 + R               ←   put acknowledged = 5
///
/// `put`: shmem_putmem, which returns when the slot may be written again. `put_overlap`:
/// shmem_putmem_nbi, which returns at once; the acknowledgement says when the slot is free.
///
/// Memory ordering: shmem_fence orders the message before the count at the receiver's memory;
/// shmem_test that sees the count orders it before the reading of the message, and reading before
/// the acknowledgement by a release fence.
///
/// Symmetric memory is allocated collectively, on every rank as much as the rank with the largest
/// links needs; SHMEM_SYMMETRIC_SIZE in the environment sets its size (256M by default). Only
/// `collective_close` frees it.
///
/// Collective over all ranks of the job. Lifetime: inside an MpiSession; `communicator` is
/// duplicated.
/// Throws InputError, on all ranks, for ends that disagree, where symmetric memory is too small,
/// for a group that is not the whole job, and where the build has no OpenSHMEM. Source: Bethune et
/// al. 2012, section 3.2; Yamazaki et al. 2019, section 4.2.
std::unique_ptr<Transport> collective_make_openshmem_transport(const Communicator& communicator,
                                                               std::span<const LinkPlan> plans,
                                                               OpenShmemVariant variant);

}  // namespace weft::comm_thread
