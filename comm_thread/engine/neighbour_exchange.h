#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/schedule.h"
#include "comm_thread/mpi/message_space.h"

namespace weft::comm_thread {

/// Buffers of this rank for one neighbour. Empty: no message in that direction.
struct ExchangeNeighbour {
  int rank = 0;
  std::span<const std::byte> send{};
  std::span<std::byte> receive{};  // as long as that rank's message
};

/// Sends to and receives from given neighbours repeatedly: MPI_Ialltoallv restricted to the
/// neighbours, as a schedule of one round.
///
/// weft copies nothing. Lifetime: `space` and all buffers outlive it.
/// Thread: one at a time.
class NeighbourExchange {
 public:
  /// `name`: for messages. `tag`: the same on all ranks, different for every schedule on
  /// `space`. Not collective by itself, but both ends of every pair must exist before either
  /// is used.
  NeighbourExchange(const MessageSpace& space, std::string name,
                    std::span<const ExchangeNeighbour> neighbours, int tag);

  bool is_empty() const { return schedule_->is_empty(); }

  /// Starts on the calling thread, which must wait for the Pending.
  Pending start_here(CommThread& thread) { return thread.start_here(*schedule_); }

  /// Posts to the communication thread. Receive `i` of the Pending is the i-th neighbour that sends
  /// anything.
  Pending post(CommThread& thread) { return thread.post(*schedule_); }

 private:
  std::unique_ptr<Schedule> schedule_;
};

}  // namespace weft::comm_thread
