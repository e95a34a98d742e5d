#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/channels/transport.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Exchanges one offset between the two ends of every link.
///
/// `own_offsets`: one number for each link's neighbour, for instance the begin of the link's memory
/// in this rank's window. Returns the neighbours' numbers in link order. Communicates with the
/// neighbours only. Collective over `communicator`, with or without links.
/// Throws InputError, on all ranks, when a link has no other end or several, when the two ends
/// disagree, when a tag is not from 0 to 32767, or a message is above 2 GiB.
std::vector<std::uint64_t> collective_exchange_link_ends(
    const Communicator& communicator, std::span<const LinkPlan> plans,
    std::span<const std::uint64_t> own_offsets);

}  // namespace weft::comm_thread
