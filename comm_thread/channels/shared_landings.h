#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/transport.h"
#include "comm_thread/mpi/communicator.h"

namespace weft::comm_thread {

/// Landings that ranks of one node, or threads of one rank, write to directly: each rank's lie in
/// its part of an MPI shared window. No progress calls are needed.
///
/// Collective: construction and destruction (not while an exception ends the job).
/// `plans[i].receive_bytes` and `send_bytes` are whole numbers of doubles here, without a header.
/// Throws InputError, on all ranks, when a neighbour is on another node.
class SharedLandings {
 public:
  SharedLandings(const Communicator& communicator, std::span<const LinkPlan> plans,
                 Delivery delivery);
  ~SharedLandings();
  SharedLandings(const SharedLandings&) = delete;
  SharedLandings& operator=(const SharedLandings&) = delete;

  /// Landing of this link on this rank, and at the neighbour. Aligned to 64 bytes.
  std::byte* here(std::size_t link) const { return here_[link]; }
  std::byte* there(std::size_t link) const { return there_[link]; }

  /// Returns when all ranks have called it: no rank writes any more. Collective.
  void collective_close() const { node_.barrier(); }

 private:
  Communicator node_;
  int exceptions_at_start_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte*> here_;
  std::vector<std::byte*> there_;
};

}  // namespace weft::comm_thread
