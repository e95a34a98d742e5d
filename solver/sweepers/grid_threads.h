#pragma once

#include <memory>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "comm_thread/waiting/team_barrier.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/sweep/sweeper.h"
#include "solver/sweepers/grid_sweeper.h"
#include "spmv/grid/diffusion_problem.h"

namespace weft::solver {

/// The diffusion problem dealt to the threads of one process: whole planes for each, with a
/// GridSweeper of its own. For ThreadedIteration.
class GridThreads {
 public:
  /// Each thread touches its own arrays first. Thread: the main thread, outside the team.
  /// Throws comm_thread::InputError where the grid has fewer planes in z than there are threads.
  GridThreads(const comm_thread::ComputeTeam& team, const spmv::DiffusionProblem& problem);

  std::vector<Sweeper*> sweepers() const;
  double source_norm() const { return sweepers_.front()->source_norm(); }

  /// The rows of all threads, for checkpoints.
  PackedRows rows() const;

  /// The current value at a point, by global coordinates from 0.
  double value(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const;

 private:
  spmv::GridBox domain_;
  comm_thread::ComputeTeam alone_{1, comm_thread::WaitPolicy::yield};  // of each sweeper
  std::vector<std::unique_ptr<GridSweeper>> sweepers_;  // [threads]
};

}  // namespace weft::solver
