#pragma once

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/order/row_order.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// The matrix with rows and columns in the new order, on the ranks that then own them. Rows that
/// stay are copied by the thread that will work on them; the others travel in rounds of about 1 MB
/// per rank. fem50k on one rank with two threads: 5 ms.
/// Collective. Thread: the main thread, outside the team.
DistributedMatrix collective_reorder(const comm_thread::Communicator& communicator,
                                     const comm_thread::ComputeTeam& team,
                                     const DistributedMatrix& matrix, const RowOrder& order);

}  // namespace weft::spmv
