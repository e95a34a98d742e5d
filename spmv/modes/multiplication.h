#pragma once

#include <functional>

#include "comm_thread/engine/comm_thread.h"
#include "perfmodel/phase_times.h"
#include "spmv/modes/local_rows.h"
#include "spmv/rows/operand.h"

namespace weft::spmv {

/// All that one product y = A·x works on; the modes differ only in what they do with it.
struct Multiplication {
  const LocalRows& rows;
  comm_thread::CommThread& comm_thread;
  Operand& x;
  double* y;  // 64-byte aligned
  perfmodel::PhaseTimer& timer;  // the primary thread's
  RowSum x_dot_y{};

  void multiply(RowSet set, const comm_thread::TeamThread& thread) const {
    rows.multiply(set, thread, x.values(), y, x_dot_y);
  }
  void multiply_in_pieces(RowSet set, const comm_thread::TeamThread& thread,
                          const std::function<void()>& pause) const {
    rows.multiply_in_pieces(set, thread, x.values(), y, x_dot_y, pause);
  }
};

}  // namespace weft::spmv
