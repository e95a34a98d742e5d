#pragma once

#include "comm_thread/engine/halo_exchange.h"
#include "spmv/rows/halo.h"

namespace weft::spmv {

/// A vector that an operator can be applied to: its entries, and the exchange that brings those of
/// the neighbours that the operator reads beside them.
class Operand : public Halo {
 public:
  /// The vector in the shape of its operator.
  virtual double* values() = 0;

  virtual comm_thread::HaloExchange<double>& exchange() = 0;

  comm_thread::NeighbourExchange& messages() override { return exchange().messages(); }
};

}  // namespace weft::spmv
