#pragma once

#include <string>

#include "comm_thread/engine/crew.h"
#include "solver/multigrid/couplings/grid_couplings.h"
#include "spmv/grid/grid_partition.h"
#include "spmv/problems/problem.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::solver {

/// The couplings of a symmetric 7-point matrix, row x + NX·(y + NY·z) for the point (x, y, z), at
/// the points of this rank's box: couplings are what stands beside the diagonal, with the other
/// sign; the excess of a row is its sum, with what it has from the boundary.
///
/// Throws comm_thread::InputError, on every rank, that names a row, from 1, of a matrix that is
/// none such: entries in other columns, entries above 0 beside the diagonal, a diagonal that is not
/// above 0, a sum below 0, an asymmetry; or where all sums are 0, because that matrix is singular.
/// Memory while it runs: 64 bytes a row. Collective. Thread: the main thread, outside the team.
GridCouplings collective_matrix_couplings(const comm_thread::Crew& crew,
                                          const spmv::DistributedMatrix& matrix,
                                          const spmv::GridPartition& partition);

}  // namespace weft::solver
