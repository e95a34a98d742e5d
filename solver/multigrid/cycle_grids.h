#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/coarsest_grid.h"
#include "solver/multigrid/gathering.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/grids/level_cuts.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/modes/mode.h"
#include "spmv/modes/work.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/index.h"
#include "spmv/rows/row_set.h"

namespace weft::solver {

/// All grids of a cycle, with their arrays, exchanges, tiles and passes, and how work on one of
/// them runs beside an exchange. What runs when is the cycle's.
/// Lifetime: what it is constructed with outlives it.
class CycleGrids {
 public:
  struct Options {
    int steps = 2;  // of the smoother before and after, at most 4
    /// Points of a rank, in a direction that is cut, below which a grid moves to fewer ranks. 0:
    /// chosen by a model (Gathering) where cycles are made by `collective_make_cycle`.
    spmv::GlobalIndex least_points = 8;
    Gathering gathering{};  // what was chosen, for reports
    bool has_full_start = false;  // solutions of coarse grids come with what FullStart needs
    /// Points that a pass keeps of all planes it works on: tiles are as large as that allows.
    spmv::GlobalIndex points_in_cache = tile_points_in_cache;
    bool is_additive = false;  // AdditiveCycle instead of GridCycle, for who chooses
    spmv::Mode mode = spmv::Mode::task;
  };

  struct Level {
    GridLevel grid;
    LevelCuts cuts;
    LevelCuts finer_cuts;  // as the ranks of the next finer grid have its points
    GridArray f;  // with halo
    GridArray x;  // after smoothing on the way down, around the own points as well
    GridArray e;  // the solution, with halo; none of the finest grid
    std::optional<GridArray> restricted;  // f, on the finer grid's ranks, where those are others
    std::optional<GridArray> correction;  // e, on the finer grid's ranks, where those are others
    std::optional<BoxExchange<float>> f_halo;
    std::optional<BoxExchange<float>> e_halo;
    PassTiles down;
    PassTiles up;
    std::optional<DownPass> down_pass;
    std::optional<UpPass> up_pass;
    std::unique_ptr<LevelCouplings> couplings;  // where they vary

    double coupling_bytes() const { return couplings ? LevelCouplings::bytes : 0; }
    std::size_t byte_count() const;
    GridArray& restriction_target() { return restricted ? *restricted : f; }
    GridArray& interpolation_source() { return correction ? *correction : e; }
  };

  class DownWork;
  class CoarsestWork;

  /// `first_tag`: of the messages; each grid takes two. Collective. Thread: the main thread,
  /// outside the team. `communicator`: of the communication thread.
  CycleGrids(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
             const comm_thread::ComputeTeam& team, std::vector<LevelPlan> plan,
             const Options& options, int first_tag, perfmodel::PhaseTimer& timer);
  CycleGrids(const CycleGrids&) = delete;
  CycleGrids& operator=(const CycleGrids&) = delete;

  /// Points around the own ones of a grid at which its f is needed.
  int depth() const { return DownPass::depth(options_.steps); }
  /// Points around the own ones of a finer grid at which a coarse solution comes to its ranks.
  int solution_depth() const;
  const Options& options() const { return options_; }
  const comm_thread::Communicator& communicator() const { return communicator_; }
  const comm_thread::ComputeTeam& team() const { return team_; }
  const perfmodel::PhaseTimer& timer() const { return timer_; }
  /// The finest first.
  std::span<Level> levels() { return levels_; }
  std::span<const Level> levels() const { return levels_; }
  PassMemory& memory(const comm_thread::TeamThread& thread) {
    return memories_[static_cast<std::size_t>(thread.index)];
  }

  /// Work beside the exchange of `halo`, or alone where that is null or has no messages.
  /// Thread: every thread of the team. Ends with a barrier. Collective.
  void collective_run(const comm_thread::TeamThread& thread, const spmv::Work& work,
                      spmv::Halo* halo) const;

 private:
  void make_level(Level& level, std::size_t index, int first_tag);
  void run_alone(const comm_thread::TeamThread& thread, const spmv::Work& work) const;

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

/// The way down from one grid.
class CycleGrids::DownWork final : public spmv::Work {
 public:
  DownWork(CycleGrids& grids, std::size_t index, const DownPass::Source& source)
      : grids_(grids), index_(index), source_(source) {}
  void run(spmv::RowSet part, const comm_thread::TeamThread& thread,
           const std::function<void()>& pause) const override;

 private:
  CycleGrids& grids_;
  std::size_t index_;
  DownPass::Source source_;
};

/// The direct solution, after the coarsest grid's f has arrived.
class CycleGrids::CoarsestWork final : public spmv::Work {
 public:
  explicit CoarsestWork(CycleGrids& grids) : grids_(grids) {}
  void run(spmv::RowSet part, const comm_thread::TeamThread& thread,
           const std::function<void()>& pause) const override;

 private:
  CycleGrids& grids_;
};

/// Calls run(tile) for the tiles of `part` that are the thread's.
template <class Run>
void for_each_tile(const PassTiles& tiles, spmv::RowSet part, const comm_thread::TeamThread& thread,
                   const Run& run) {
  const auto index = static_cast<std::size_t>(thread.index);
  if (part != spmv::RowSet::boundary)
    for (const PassTile& tile : tiles.interior[index]) run(tile);
  if (part != spmv::RowSet::interior)
    for (const PassTile& tile : tiles.boundary[index]) run(tile);
}

}  // namespace weft::solver
