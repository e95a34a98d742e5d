#pragma once

#include <memory>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Non-blocking barrier: its Pending is complete when all ranks have entered.
///
/// Dissemination: ⌈log2 p⌉ rounds of empty messages.
///
///     5 ranks: i → i+1 | i → i+2 | i → i+4      (modulo 5)
///
/// Lifetime: `communicator` outlives it. Thread: one at a time.
/// Source: Hensgen, Finkel, Manber 1988, "Two algorithms for barrier synchronization".
class Barrier {
 public:
  /// `tag`: the same on all ranks, different for every schedule on `communicator`.
  Barrier(const Communicator& communicator, int tag);

  /// Enters the barrier on the calling thread, which must wait for the Pending.
  Pending start_here(CommThread& thread) { return thread.start_here(*schedule_); }

  /// Enters the barrier; the communication thread progresses it.
  Pending post(CommThread& thread) { return thread.post(*schedule_); }

 private:
  std::unique_ptr<Schedule> schedule_;
};

}  // namespace weft::comm_thread
