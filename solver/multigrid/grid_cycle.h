#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle_grids.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/level_report.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "spmv/grid/partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/rows/halo.h"

namespace weft::solver {

/// A V-cycle on the grids of a problem, in single precision: z ≈ A⁻¹·r.
///
///     finest   r ─ smooth, restrict ─────────────────────── interpolate, smooth ─► z
///     coarse        halo of f ─ smooth, restrict … interpolate, smooth ─ halo of e
///     coarsest                     one rank solves directly
///
/// Each grid takes two passes through memory and two exchanges, of f on the way down and of e on
/// the way up, which run beside the points that do not need them, as the mode wants it. Halos are
/// as deep as a pass has steps, so that smoothing needs no messages. Grids with few points a rank
/// move to fewer ranks. No operation depends on ranks, threads, tiles or modes, so neither do the
/// bits of z.
/// Lifetime: what it is constructed with outlives it.
class GridCycle {
 public:
  using Options = CycleGrids::Options;

  /// Collective. Thread: the main thread, outside the team. `communicator`: of the communication
  /// thread.
  GridCycle(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
            const comm_thread::ComputeTeam& team, const spmv::GridStencil& stencil,
            const spmv::GridPartition& partition, const Options& options,
            perfmodel::PhaseTimer& timer);
  /// The same on planned grids, whose couplings may vary.
  GridCycle(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
            const comm_thread::ComputeTeam& team, std::vector<LevelPlan> plan,
            const Options& options, perfmodel::PhaseTimer& timer);
  GridCycle(const GridCycle&) = delete;
  GridCycle& operator=(const GridCycle&) = delete;

  /// Points around the own ones at which the residual of the finest grid is needed.
  int depth() const { return grids_.depth(); }
  const Options& options() const { return grids_.options(); }
  const GridLevel& finest() const { return grids_.levels().front().grid; }
  /// Of this cycle times A; the largest eigenvalue is 1.
  double least_eigenvalue() const { return least_eigenvalue_; }

  /// The right-hand side of the finest grid, for a source that is an array, with its halo.
  GridArray& right_hand_side() { return grids_.levels().front().f; }
  spmv::Halo& right_hand_side_halo() { return *grids_.levels().front().f_halo; }

  /// Down to the coarsest grid and its solution. `source`: of the finest grid, for this thread;
  /// `halo`: of the source, exchanged beside the first pass, or null.
  /// Thread: every thread of the team, after a barrier. Ends with one. Collective.
  void collective_descend(const comm_thread::TeamThread& thread, const DownPass::Source& source,
                          spmv::Halo* halo);
  /// Up again. Thread: as above.
  void collective_ascend(const comm_thread::TeamThread& thread, const UpPass::Sink& sink);

  /// What each grid took since the last call of `forget_times`. Of the finest grid it has no halo
  /// of a source that is no array. Thread: the main thread, outside the team.
  CycleReport report();
  void forget_times();

 private:
  friend class FullStart;

  /// What the passes of one grid have taken.
  struct LevelTimes {
    double coarse_share = 0;  // points of the next grid by those of this one
    double down_bytes = 0;  // per point, by the model; of the last pass
    double up_bytes = 0;
    PassTimes down;
    PassTimes up;
    const char* down_name = "";  // in traces
    const char* up_name = "";
  };
  class UpWork;
  class TimedPass;

  void make_times(std::size_t index);
  /// The pass down of one grid. `halo`: beside it, or null. Every thread.
  void descend_from(const comm_thread::TeamThread& thread, std::size_t index,
                    const DownPass::Source& source, spmv::Halo* halo);
  /// A cycle on grid `index`, not the finest, from its f, whose halo is there, to its e. Every
  /// thread.
  void collective_cycle_from(const comm_thread::TeamThread& thread, std::size_t index);
  /// The pass up to one grid. Every thread.
  void ascend_to(const comm_thread::TeamThread& thread, std::size_t index,
                 const UpPass::Sink& sink);

  CycleGrids grids_;
  std::vector<LevelTimes> times_;  // [grids]
  double least_eigenvalue_ = 0;
  std::int64_t cycles_ = 0;
};

}  // namespace weft::solver
