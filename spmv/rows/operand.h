#pragma once

#include "comm_thread/engine/halo_exchange.h"
#include "spmv/rows/halo.h"

namespace weft::spmv {

/// A vector that an operator can be applied to: its entries, and the exchange that brings those of
/// the neighbours that the operator reads beside them.
template <class Value>
class OperandOf : public Halo {
 public:
  /// The vector in the shape of its operator.
  virtual Value* values() = 0;

  virtual comm_thread::HaloExchange<Value>& exchange() = 0;

  comm_thread::NeighbourExchange& messages() override { return exchange().messages(); }
};

using Operand = OperandOf<double>;

}  // namespace weft::spmv
