#pragma once

#include <cstdint>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/checkpoint/packed_rows.h"
#include "solver/report/threaded_report.h"
#include "solver/sweep/disturbance.h"
#include "solver/threads/plane_block.h"
#include "spmv/grid/diffusion_problem.h"

namespace weft::solver {

/// Jacobi sweeps for the diffusion problem by the threads of one process, without messages: each
/// thread owns a block of planes, as PlaneWorker shows.
///
/// *sync*: all threads make the same sweeps, with a barrier after each; the residual is tested
/// every `check_period` sweeps. Iterations and values have the same bits for any number of threads,
/// and as SyncIteration.
/// *async*: no thread waits for another's sweep; a neighbour's plane is a whole one, of one sweep.
/// *racy*: the same, but a neighbour's plane may be any mixture of elements.
///
/// *async* and *racy* keep a running sum of what the threads found last (RunningSquare). Who sees
/// it below the threshold raises a flag; who sees the flag stops. That is a suspicion only, because
/// the parts are of different times: all meet, take each other's planes and compute the true
/// residual, and sweep on if it misses the tolerance, which the paper's version does not. So the
/// reported residual is the true one.
/// Source: Bethune et al. 2012, section 3.3.
///
/// Memory ordering: blocks are their threads' own; planes are handed over by SharedPlane, in lock
/// step by barriers alone (PlaneBlock::copy_ghosts); the flag is relaxed, because the barrier that
/// follows it orders what is read thereafter.
class ThreadedJacobi {
 public:
  enum class Variant { sync, async, racy };

  struct Options {
    Variant variant = Variant::sync;
    double tolerance = 1e-4;
    std::int64_t max_iterations = 1'000'000;  // of any thread
    int check_period = 100;  // sync
    int contribution_period = 10;  // async and racy: residual in every so many-th sweep
    std::vector<Fault> faults = {};  // their "rank" is a thread
    /// Opened for `rows`; null: none. The run ends where one asks for that.
    Checkpoints* checkpoints = nullptr;
  };

  /// Thread: the main thread, as for `run`. `team` outlives it. Throws comm_thread::InputError for
  /// options that are out of range and where the grid has fewer planes in z than there are threads.
  ThreadedJacobi(const comm_thread::ComputeTeam& team, const spmv::DiffusionProblem& problem,
                 Options options);
  ThreadedJacobi(const ThreadedJacobi&) = delete;
  ThreadedJacobi& operator=(const ThreadedJacobi&) = delete;

  /// For checkpoints.
  PackedRows rows() const;

  /// Sweeps from DiffusionProblem::start_value, every time, or from a checkpoint.
  ThreadedReport run();

  /// The solution after `run`, by global coordinates from 0.
  double value(spmv::GlobalIndex x, spmv::GlobalIndex y, spmv::GlobalIndex z) const;

 private:
  class Run;

  const comm_thread::ComputeTeam& team_;
  spmv::DiffusionProblem problem_;
  Options options_;
  std::vector<PlaneBlock> blocks_;  // [threads]
};

}  // namespace weft::solver
