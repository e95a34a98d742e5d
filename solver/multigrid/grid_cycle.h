#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/box_exchange.h"
#include "solver/multigrid/coarsest_grid.h"
#include "solver/multigrid/grid_array.h"
#include "solver/multigrid/grid_level.h"
#include "solver/multigrid/grid_pass.h"
#include "solver/multigrid/level_couplings.h"
#include "solver/multigrid/level_cuts.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/tiles.h"
#include "spmv/grid/partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/work.h"

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
  struct Options {
    int steps = 2;  // of the smoother before and after, at most 4
    spmv::Mode mode = spmv::Mode::task;
  };

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
  int depth() const { return DownPass::depth(options_.steps); }
  const Options& options() const { return options_; }
  const GridLevel& finest() const { return levels_.front().grid; }

  /// The right-hand side of the finest grid, for a source that is an array, with its halo.
  GridArray& right_hand_side() { return levels_.front().f; }
  spmv::Halo& right_hand_side_halo() { return *levels_.front().f_halo; }

  /// Down to the coarsest grid and its solution. `source`: of the finest grid, for this thread;
  /// `halo`: of the source, exchanged beside the first pass, or null.
  /// Thread: every thread of the team, after a barrier. Ends with one. Collective.
  void collective_descend(const comm_thread::TeamThread& thread, const DownPass::Source& source,
                          spmv::Halo* halo);
  /// Up again. Thread: as above.
  void collective_ascend(const comm_thread::TeamThread& thread, const UpPass::Sink& sink);

 private:
  struct Level {
    GridLevel grid;
    LevelCuts cuts;
    LevelCuts finer_cuts;  // as the ranks of the next finer grid have its points
    GridArray f;  // with halo
    GridArray x;  // after smoothing on the way down, around the own points as well
    GridArray e;  // the solution
    std::optional<GridArray> restricted;  // f, on the finer grid's ranks, where those are others
    std::optional<GridArray> correction;  // e, on the finer grid's ranks, where those are others
    std::optional<BoxExchange<float>> f_halo;
    std::optional<BoxExchange<float>> e_halo;
    PassTiles down;
    PassTiles up;
    std::optional<DownPass> down_pass;
    std::optional<UpPass> up_pass;
    std::unique_ptr<LevelCouplings> couplings;  // where they vary

    GridArray& restriction_target() { return restricted ? *restricted : f; }
    GridArray& interpolation_source() { return correction ? *correction : e; }
  };
  class DownWork;
  class UpWork;
  class CoarsestWork;

  void make_level(Level& level, std::size_t index);
  void run_alone(const comm_thread::TeamThread& thread, const spmv::Work& work);
  void collective_run(const comm_thread::TeamThread& thread, const spmv::Work& work,
                      spmv::Halo* halo);

  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  Options options_;
  std::vector<Level> levels_;
  std::unique_ptr<GridCouplings> coarsest_couplings_;  // where they vary, on the last grid's rank
  std::optional<CoarsestGrid> coarsest_;
  std::vector<PassMemory> memories_;  // [threads]
  perfmodel::PhaseTimer& timer_;
};

}  // namespace weft::solver
