#pragma once

#include <span>

#include "comm_thread/comm_thread.h"
#include "comm_thread/exact_accumulator.h"
#include "perfmodel/phase_times.h"
#include "spmv/halo_vector.h"
#include "spmv/split_matrix.h"

namespace weft::spmv {

/// All that one product y = A·x works on; the modes differ only in what they do with it.
struct Multiplication {
  const SplitMatrix& matrix;
  comm_thread::CommThread& comm_thread;
  HaloVector& x;
  std::span<double> y;  // [row_count], 64-byte aligned
  perfmodel::PhaseTimer& timer;  // the primary thread's
  comm_thread::ExactAccumulator* x_dot_y{};  // this thread's, or none

  void multiply(RowSet set, int thread) const {
    matrix.multiply(set, thread, x.data(), y.data(), x_dot_y);
  }
};

}  // namespace weft::spmv
