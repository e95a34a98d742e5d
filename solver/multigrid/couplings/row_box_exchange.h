#pragma once

#include "comm_thread/engine/crew.h"
#include "spmv/grid/grid_layout.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/rows/partition.h"
#include "spmv/rows/redistribution.h"

namespace weft::solver {

/// Moves values between the rows of a matrix, consecutive ones on each rank, and the boxes of its
/// grid, which have the memory that `layout` says. Only ranks whose rows and boxes overlap talk to
/// each other.
///
///     4×3 points, 2 ranks     rows   0 0 0 0     boxes   0 0 1 1      rank 0 sends two values of
///                                    0 0 1 1             0 0 1 1      row 0, rank 1 two of row 2
///                                    1 1 1 1             0 0 1 1
///
/// `Value`: of the boxes and messages, float or double. Collective as Redistribution.
template <class Value>
spmv::Redistribution<Value> rows_to_boxes(const comm_thread::Crew& crew,
                                          const spmv::RowPartition& rows,
                                          const spmv::GridPartition& boxes,
                                          const spmv::GridLayout& layout);

}  // namespace weft::solver
