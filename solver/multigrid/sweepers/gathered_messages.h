#pragma once

#include <cstddef>
#include <vector>

#include "comm_thread/channels/channel.h"
#include "comm_thread/mpi/communicator.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/sweepers/coarse_messages.h"
#include "spmv/grid/partition.h"

namespace weft::solver {

/// The messages of all ranks about the first gathered grid, and the channels that carry them.
/// Lifetime: what it is made of stays. Thread: any.
class GatheredMessages {
 public:
  /// `halo_depth`: of the finest grid; `steps`: of the smoother on the others; `gathered`: the
  /// grid.
  GatheredMessages(const std::vector<GridLevel>& levels, const spmv::GridPartition& partition,
                   int halo_depth, int steps, std::size_t gathered)
      : levels_(levels),
        partition_(partition),
        halo_depth_(halo_depth),
        steps_(steps),
        gathered_(gathered) {}

  CoarseMessages messages_of(int rank) const;
  std::vector<CoarseMessages> messages_of_all(int rank_count) const;
  /// Rank 0 has a channel to each other rank, each other rank one to rank 0.
  std::vector<comm_thread::ChannelSpec> specs_of(
      const comm_thread::Communicator& communicator) const;

 private:
  const std::vector<GridLevel>& levels_;
  const spmv::GridPartition& partition_;
  int halo_depth_;
  int steps_;
  std::size_t gathered_;
};

}  // namespace weft::solver
