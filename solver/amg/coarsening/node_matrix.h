#pragma once

#include "comm_thread/engine/crew.h"
#include "solver/amg/coarsening/level_matrix.h"
#include "solver/amg/coarsening/node_rows.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver::amg {

/// The matrix of nodes, from which aggregates of nodes are made: entry (I, J) is −‖A_IJ‖, and
/// ‖A_II‖ on the diagonal, Frobenius' norm of the block of rows of I and columns of J. Its bits do
/// not depend on ranks and threads: squares are added in ascending row, then column.
///
///     2 rows a node      4 −1 │ −2  0
///                       −1  4 │  0 −2         ‖A_00‖  −2.83
///                       ──────┼───────   ──►
///                       −2  0 │  4 −1          −2.83  ‖A_11‖
///                        0 −2 │ −1  4
///
/// Collective. Thread: the main thread, outside the team.
spmv::DistributedMatrix collective_condense(const comm_thread::Crew& crew, const LevelMatrix& level,
                                            const NodeRows& nodes);

}  // namespace weft::solver::amg
