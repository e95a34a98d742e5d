#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/coarsest_grid.h"
#include "solver/multigrid/grid_cycle.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/grids/level_cuts.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/grid/partition.h"
#include "spmv/grid/stencil.h"
#include "spmv/modes/work.h"

namespace weft::solver {

/// The V-cycle of GridCycle as a sum over its grids, so that the smoothing of a fine grid can run
/// beside the messages of the coarse ones:
///
///     z = Σ P̄·Λ·P̄ᵀ·r     P̄: interpolation, smoothed on each grid it passes
///                          Λ: smoothing before and after, without a coarse correction between
///
///     finest   f ─ smooth, restrict ──── y = Λ·f, slice by slice ──────── w = P̄·e ── z = y + w
///     coarse             exchange f ─ … ─ solve ─ … ─ exchange e ─ …
///
/// In exact arithmetic z is that of the V-cycle, with the same eigenvalues and as symmetric. It
/// takes a third pass on each grid, y, which no message waits for and which waits for none.
/// Slices of the finest y fill the exchanges of all other grids. The bits of z do not depend on
/// ranks, threads, tiles or modes.
/// Lifetime: what it is constructed with outlives it.
/// Source: Vassilevski and Yang 2014, "Reducing communication in algebraic multigrid using additive
/// variants" (mult-additive).
class AdditiveCycle {
 public:
  using Options = GridCycle::Options;

  /// As GridCycle.
  AdditiveCycle(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
                const comm_thread::ComputeTeam& team, const spmv::GridStencil& stencil,
                const spmv::GridPartition& partition, const Options& options,
                perfmodel::PhaseTimer& timer);
  AdditiveCycle(const AdditiveCycle&) = delete;
  AdditiveCycle& operator=(const AdditiveCycle&) = delete;

  int depth() const { return DownPass::depth(options_.steps); }
  const GridLevel& finest() const { return levels_.front().grid; }
  GridArray& right_hand_side() { return levels_.front().f; }
  spmv::Halo& right_hand_side_halo() { return *levels_.front().f_halo; }

  /// Goes down from the points of the finest grid that need no halo, while another exchanges it.
  /// Thread: every thread of the team.
  void begin(const comm_thread::TeamThread& thread, const DownPass::Source& source);
  /// As GridCycle. The finest grid's array is always `right_hand_side`: as the source, or as its
  /// copy.
  /// `part`: of the finest grid: `boundary` after `begin`, whose source was the same.
  void collective_descend(const comm_thread::TeamThread& thread, const DownPass::Source& source,
                          spmv::Halo* halo, spmv::RowSet part = spmv::RowSet::all);
  void collective_ascend(const comm_thread::TeamThread& thread, const UpPass::Sink& sink);

 private:
  /// The tiles of one thread or of all, by thread.
  using Tiles = std::vector<std::vector<PassTile>>;

  struct Level {
    GridLevel grid;
    LevelCuts cuts;
    LevelCuts finer_cuts;  // as the ranks of the next finer grid have its points
    GridArray f;  // with halo
    GridArray x;  // after smoothing from zero, around the own points as well
    GridArray y;  // Λ·f
    GridArray w;  // P̄·e of the coarser grids
    GridArray e;  // y + w, with halo
    GridArray no_f;  // zeros
    GridArray no_e;
    std::optional<GridArray> restricted;  // f, on the finer grid's ranks, where those are others
    std::optional<GridArray> correction;  // e, on the finer grid's ranks, where those are others
    std::optional<BoxExchange<float>> f_halo;
    std::optional<BoxExchange<float>> e_halo;
    PassTiles down;
    PassTiles up;
    std::optional<DownPass> down_pass;
    std::optional<UpPass> up_pass;

    GridArray& restriction_target() { return restricted ? *restricted : f; }
    GridArray& interpolation_source() { return correction ? *correction : e; }
  };
  class DownWork;
  class UpWork;
  class CoarsestWork;
  class BesideWork;

  void make_level(Level& level, std::size_t index);
  void make_slices();
  void smooth(std::size_t level, const Tiles& tiles, const comm_thread::TeamThread& thread,
              const std::function<void()>& pause);
  void collective_run(const comm_thread::TeamThread& thread, const spmv::Work& work,
                      spmv::Halo* halo);

  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  const comm_thread::ComputeTeam& team_;
  Options options_;
  std::vector<Level> levels_;
  std::vector<Tiles> slices_;  // of the finest y: one for each exchange of the other grids
  std::optional<CoarsestGrid> coarsest_;
  std::vector<PassMemory> memories_;  // [threads]
  perfmodel::PhaseTimer& timer_;
};

}  // namespace weft::solver
