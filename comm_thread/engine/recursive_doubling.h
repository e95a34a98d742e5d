#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Adds to `builder` the rounds after which every rank's `own` combines those of all ranks:
/// recursive doubling, ⌈log2 p⌉ rounds; where p is no power of two, a round before and one after.
///
///     6 ranks: 4→0 5→1 | 0↔1 2↔3 | 0↔2 1↔3 | 0→4 1→5
///
/// `combine_received` adds `received` to `own`; ranks combine in different orders, so that it must
/// not round. Lifetime: both buffers outlive the schedule. Shape: own and received: equally long.
void add_recursive_doubling(Schedule::Builder& builder, const Communicator& communicator,
                            std::span<std::byte> own, std::span<std::byte> received,
                            const std::function<void()>& combine_received);

}  // namespace weft::comm_thread
