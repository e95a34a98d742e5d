#pragma once

#include <cstdint>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Nanoseconds to add to this rank's steady clock to get that of rank 0, so that times of several
/// nodes can be compared. The ranks of a node share one clock: all have the offset of the node's
/// first rank, 0 on the node of rank 0.
///
/// Each rank asks one that already knows its own offset, several times, and uses the answer with
/// the shortest round trip: the error is at most half of it, in each of log2 p rounds.
/// Collective. Source: Cristian 1989.
std::int64_t collective_clock_offset_ns(const Communicator& communicator);
/// The same where the ranks of this rank's node have a communicator, `node`, already.
std::int64_t collective_clock_offset_ns(const Communicator& communicator, const Communicator& node);

}  // namespace weft::comm_thread
