#include "solver/tiles/sync_two_level.h"

#include <algorithm>

namespace weft::solver {

SyncTwoLevel::SyncTwoLevel(const comm_thread::Communicator& communicator,
                           comm_thread::CommThread& comm_thread, TileSweeper& tiles)
    : tiles_(tiles),
      comm_thread_(comm_thread),
      communicator_(communicator.collective_duplicate()),
      space_(tiles.problem().tiles_per_side, tiles.problem().points_per_side),
      shares_(space_.share_count()),
      nodes_(space_.node_count()),
      correction_(space_.node_count()),
      sum_(communicator_, comm_thread::ReduceOperation::sum, shares_.size(), 0) {}

void SyncTwoLevel::sweep(const comm_thread::TeamThread& thread, SweepPart part,
                         comm_thread::ExactAccumulator* residual_square) {
  if (part == SweepPart::interior) return;
  tiles_.complete_whole(thread);
  tiles_.restrict_residual(thread, space_, shares_);
  thread.barrier();
  if (thread.is_primary()) find_correction();
  thread.barrier();
  tiles_.add(thread, space_, correction_);
  thread.barrier();
  tiles_.sweep(thread, SweepPart::all, residual_square);
}

void SyncTwoLevel::find_correction() {
  std::ranges::copy(shares_, sum_.values().begin());
  if (communicator_.size() > 1) sum_.post(comm_thread_).wait();
  space_.sum_shares(sum_.values(), nodes_);
  space_.solve(nodes_, correction_);
  ++correction_count_;
}

}  // namespace weft::solver
