#pragma once

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// The most consecutive rows of a node that are looked for.
constexpr int most_rows_of_found_node = 6;

/// How many consecutive rows belong to one node of a mesh, such as the displacements of a point: 2
/// to 6; 1 where rows are no nodes, or not clearly.
///
///     x x . . x x     rows 0 1, 2 3 and 4 5 have entries in the same pairs of columns, not only
///     x x . . x x     on the diagonals of blocks; rows 1 2 and 3 4 have not. Entries of the same
///     . . x x x x     component add up to nearly nothing in most rows, as a translation costs
///     . . x x x x     nothing.
///     x x x x x x
///     x x x x x x
///
/// Rows with nothing but a diagonal entry, such as Dirichlet's, do not count. Looks at about a
/// thousand rows in a few places, which depend on the size of the matrix alone, and so does not
/// depend on ranks. Collective; the same on all ranks. Thread: the main thread.
int collective_find_node_size(const comm_thread::Communicator& communicator,
                              const DistributedMatrix& matrix);

}  // namespace weft::spmv
