#pragma once

#include <functional>

#include "spmv/modes/local_rows.h"
#include "spmv/modes/work.h"

namespace weft::spmv {

/// The product y = A·x as work for the modes; adds Σ x_i·y_i to `x_dot_y`.
/// Shape: x: own values, then the halo; y: [element_count], 64-byte aligned.
class Product final : public Work {
 public:
  Product(const LocalRows& rows, const double* x, double* y, RowSum x_dot_y)
      : rows_(rows), x_(x), y_(y), x_dot_y_(x_dot_y) {}

  void run(RowSet part, const comm_thread::TeamThread& thread,
           const std::function<void()>& pause) const override {
    if (pause)
      rows_.multiply_in_pieces(part, thread, x_, y_, x_dot_y_, pause);
    else
      rows_.multiply(part, thread, x_, y_, x_dot_y_);
  }

 private:
  const LocalRows& rows_;
  const double* x_;
  double* y_;
  RowSum x_dot_y_;
};

}  // namespace weft::spmv
