#pragma once

#include "comm_thread/engine/crew.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition.h"

namespace weft::solver::amg {

/// `matrix` with its rows where `partition` wants them.
/// Collective. Thread: the main thread, outside the team. Talks to those concerned only.
spmv::DistributedMatrix collective_move_rows(const comm_thread::Crew& crew,
                                             const spmv::DistributedMatrix& matrix,
                                             const spmv::RowPartition& partition);

}  // namespace weft::solver::amg
