#pragma once

#include <cstdint>

#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Nanoseconds to add to the steady clock of this rank to get that of rank 0, so that times of
/// several nodes can be compared. Ranks of one node have one clock: the offset of all is that of
/// the first, 0 on the node of rank 0.
///
/// Each rank asks one that knows its own offset already, a few times, and believes the answer that
/// came back soonest: off by at most half of that, in log2 p rounds.
/// Collective. Source: Cristian 1989.
std::int64_t collective_clock_offset_ns(const Communicator& communicator);

}  // namespace weft::comm_thread
