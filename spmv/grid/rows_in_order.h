#pragma once

#include <span>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/modes/linear_operator.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// The entries of this rank's rows of `partition`, of a vector of an operator whose ranks may own
/// any rows: those of boxes of a grid, for files, which are written row after row.
///
///     6×2 points in two boxes, 2 ranks:   rank 0 has rows 0 1 2 6 7 8     and gets 0 … 5
///                                         rank 1 has rows 3 4 5 9 10 11   and gets 6 … 11
///
/// Entries travel in rounds of about 1 MB per rank. Shape: vector: [op.element_count()].
/// Collective. Thread: the main thread, outside the team.
std::vector<double> collective_rows_in_order(const comm_thread::Communicator& communicator,
                                             const LinearOperator& op,
                                             std::span<const double> vector,
                                             const RowPartition& partition);

}  // namespace weft::spmv
