#pragma once

#include <cstdint>
#include <vector>

#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/distributed_matrix.h"

namespace weft::spmv {

/// Graph of the rows of a matrix: i and j are neighbours if a_ij or a_ji is an entry.
///
///     0 1 .      row 0: 1        offsets    0 1 3 4
///     . 2 3      row 1: 0 2      neighbours 1 0 2 1
///     . . 4      row 2: 1
struct RowGraph {
  std::vector<std::int32_t> offsets{0};  // [row_count + 1]
  std::vector<std::int32_t> neighbours;  // of each row ascending, without itself

  std::int32_t row_count() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::int32_t degree(std::size_t row) const { return offsets[row + 1] - offsets[row]; }
};

/// Throws comm_thread::InputError where there are too many rows or nonzeros to order.
void check_graph_size(std::int64_t count);

/// The graph between a rank's own rows; columns of other ranks are left out.
/// Throws comm_thread::InputError where there are 2^30 rows or nonzeros or more.
RowGraph own_row_graph(const CrsMatrix& rows);

/// The graph of nodes of `size` consecutive rows each; their number is a multiple of it.
RowGraph node_graph(const RowGraph& rows, int size);

/// The graph of the whole matrix, on rank 0; empty on the others.
/// Collective. Memory: on rank 0 about 12 bytes per nonzero of all ranks.
/// Throws comm_thread::InputError, on every rank, where that is more than there is or the matrix
/// has 2^30 rows or nonzeros or more.
RowGraph collective_gather_row_graph(const comm_thread::Communicator& communicator,
                                     const DistributedMatrix& matrix);

}  // namespace weft::spmv
