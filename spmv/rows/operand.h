#pragma once

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/placement/compute_team.h"

namespace weft::spmv {

/// A vector that an operator can be applied to: its entries, and the exchange that brings those of
/// the neighbours that the operator reads beside them.
class Operand {
 public:
  virtual ~Operand() = default;

  /// The vector in the shape of its operator.
  virtual double* values() = 0;

  virtual comm_thread::HaloExchange& exchange() = 0;

  /// Copies what neighbours need from the entries of a thread to the send buffer.
  /// Thread: each of the team for itself, after it wrote its entries.
  virtual void pack(int thread) = 0;

  /// Copies received values to where the operator reads them. Thread: every thread of the team,
  /// after the exchange; uses the team's barrier if there is anything to copy.
  virtual void unpack(const comm_thread::TeamThread& thread) = 0;
};

}  // namespace weft::spmv
