#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/message_space.h"

namespace weft::comm_thread {

/// Adds to `builder` the rounds of recursive doubling, which combine the `own` of all ranks on
/// every rank: ⌈log2 p⌉ rounds, plus one before and one after if p is not a power of two.
///
///     6 ranks: 4→0 5→1 | 0↔1 2↔3 | 0↔2 1↔3 | 0→4 1→5
///
/// `combine_received` combines `received` into `own`; the order differs between ranks, so it must
/// not round. Lifetime: both buffers outlive the schedule. Shape: own and received: equal length.
void add_recursive_doubling(Schedule::Builder& builder, const MessageSpace& space,
                            std::span<std::byte> own, std::span<std::byte> received,
                            const std::function<void()>& combine_received);

}  // namespace weft::comm_thread
