#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/halo_exchange.h"
#include "comm_thread/mpi/communicator.h"
#include "spmv/rows/index.h"
#include "spmv/rows/partition.h"

namespace weft::spmv {

/// Entries of x to receive from, and own entries to send to, each neighbour.
///
///     6×6 example, rank 0 of 2 owns rows 0 1 2, row 2 has column 3, rank 1's row 3 has column 2:
///     neighbours = {rank 1: send 1 entry, receive 1 entry}, send_list = {2}, halo_count = 1
struct HaloPlan {
  std::vector<comm_thread::HaloNeighbour> neighbours;  // ascending ranks
  std::vector<LocalIndex> send_list;  // own rows, neighbour by neighbour
  std::int64_t halo_count = 0;
};

/// Learns from the owners of `columns`, ascending rows of other ranks, who needs what. `rank`: this
/// one in `partition`.
/// Collective. Talks to neighbours only, see collective_sparse_exchange.
HaloPlan collective_build_halo_plan(const comm_thread::Communicator& communicator,
                                    const RowPartition& partition, int rank,
                                    std::span<const GlobalIndex> columns);

}  // namespace weft::spmv
