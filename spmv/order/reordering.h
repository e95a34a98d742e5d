#pragma once

#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "spmv/order/row_order.h"
#include "spmv/rows/distributed_matrix.h"
#include "spmv/rows/partition_by.h"

namespace weft::spmv {

/// Order of the rows of a matrix and their division among the ranks.
struct OrderingChoice {
  bool has_cuthill_mckee = false;  // neighbours close together, the same for any number of ranks
  bool has_graph_partition = false;  // each rank rows with few neighbours elsewhere
  PartitionBy partition_by = PartitionBy::rows;  // without a graph partition
  int node_size = 1;  // consecutive rows that stay together, in the order in which they are
};

/// Finds the order. Rank 0 does, with the graph of the whole matrix in its memory: 4 bytes per
/// nonzero of a symmetric pattern without a graph partition, nothing on a single rank; else about
/// 20, 40 with a graph partition, see collective_gather_row_graph.
/// Collective. Thread: the main thread, outside the team. Throws comm_thread::InputError on every
/// rank.
RowOrder collective_order_rows(const comm_thread::Communicator& communicator,
                               const comm_thread::ComputeTeam& team,
                               const DistributedMatrix& matrix, const OrderingChoice& choice);

/// The largest distance of an entry from the diagonal. Collective. Thread: the main thread, outside
/// the team.
GlobalIndex collective_bandwidth(const comm_thread::Communicator& communicator,
                                 const comm_thread::ComputeTeam& team,
                                 const DistributedMatrix& matrix);

}  // namespace weft::spmv
