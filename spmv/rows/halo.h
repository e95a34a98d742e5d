#pragma once

#include "comm_thread/engine/neighbour_exchange.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::spmv {

/// Values of other ranks beside a rank's own, and the messages that renew them.
class Halo {
 public:
  virtual ~Halo() = default;

  virtual comm_thread::NeighbourExchange& messages() = 0;

  /// Copies what neighbours need from the entries of a thread to the send buffer.
  /// Thread: each of the team for itself, after it wrote its entries.
  virtual void pack(int thread) = 0;

  /// Copies received values to where they are read. Thread: every thread of the team, after the
  /// exchange; uses the team's barrier if there is anything to copy.
  virtual void unpack(const comm_thread::TeamThread& thread) = 0;
};

}  // namespace weft::spmv
