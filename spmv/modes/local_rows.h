#pragma once

#include <functional>

#include "spmv/modes/linear_operator.h"
#include "spmv/rows/row_set.h"

namespace weft::spmv {

/// The rows of A on one rank, in any storage format.
class LocalRows {
 public:
  virtual ~LocalRows() = default;

  /// y = A·x on the rows of one thread in `set`, whose products x_i·y_i are added to `x_dot_y`.
  /// Thread: each of the team for itself. Unless overridden, in pieces with an empty `pause`.
  virtual void multiply(RowSet set, const comm_thread::TeamThread& thread, const double* x,
                        double* y, RowSum x_dot_y) const {
    multiply_in_pieces(set, thread, x, y, x_dot_y, {});
  }

  /// The same, bit by bit, with a call of `pause` between pieces of some thousand rows, which take
  /// some 10 µs each.
  virtual void multiply_in_pieces(RowSet set, const comm_thread::TeamThread& thread,
                                  const double* x, double* y, RowSum x_dot_y,
                                  const std::function<void()>& pause) const = 0;
};

}  // namespace weft::spmv
