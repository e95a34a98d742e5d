#pragma once

#include <memory>
#include <span>

#include "comm_thread/channels/transport.h"
#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Links of MPI_Put into the neighbour's window, in one passive-target epoch that stays open.
///
/// A window holds one put_part for each link.
///
/// | variant         | after the Put                        | how the receiver knows it is whole |
/// | flush           | MPI_Win_flush at once                | the count announced after the flush |
/// | overlap         | one MPI_Win_flush at the next look   | the same |
/// | flush_local     | MPI_Win_flush_local at once          | checksum in the message |
/// | overlap_local   | the same, MPI_Win_flush_local        | the same |
///
/// Completion at the origin says nothing about the target, so that a count announced after it could
/// overtake the message; the local variants let the message prove itself, which also saves the
/// announcement's trip.
///
/// Memory ordering: the announced and acknowledged counts and the message numbers are aligned
/// 8-byte words, written by a Put or an Accumulate and read by acquire loads of std::atomic_ref;
/// this takes the unified memory model (MPI 4.0, section 12.4), which is checked, and that the
/// library writes an aligned word in one piece.
///
/// Collective. Lifetime: inside an MpiSession; `communicator` is duplicated.
/// Throws InputError for ends that disagree and where the memory model is not unified.
/// Source: Yamazaki et al. 2019, section 4.2 and Table 2.
std::unique_ptr<Transport> collective_make_one_sided_transport(const Communicator& communicator,
                                                               std::span<const LinkPlan> plans,
                                                               OneSidedVariant variant);

}  // namespace weft::comm_thread
