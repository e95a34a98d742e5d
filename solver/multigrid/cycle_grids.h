#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/coarsest_grid.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grids/box_exchange.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/level_couplings.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/modes/work.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/row_set.h"

namespace weft::solver {

/// All grids of a cycle, with their arrays, exchanges, tiles and passes, and how work on one of
/// them runs beside an exchange. GridCycle says what runs when.
/// Lifetime: what it is constructed with outlives it.
template <class Value>
class CycleGrids {
 public:
  using Options = CycleOptions;

  struct Level : LevelPlan<Value> {
    GridArray<Value> f{};  // with halo
    GridArray<Value> x{};  // after smoothing on the way down, around the own points as well
    GridArray<Value> e{};  // the solution, with halo; none of the finest grid
    /// f and e on the finer grid's ranks, where those are others.
    std::optional<GridArray<Value>> restricted{};
    std::optional<GridArray<Value>> correction{};
    std::optional<BoxExchange<Value>> f_halo{};
    std::optional<BoxExchange<Value>> e_halo{};
    PassTiles down{};
    PassTiles up{};
    std::optional<DownPass<Value>> down_pass{};
    std::optional<UpPass<Value>> up_pass{};

    double coupling_bytes() const { return this->couplings ? LevelCouplings<Value>::bytes : 0; }
    std::size_t byte_count() const;
    GridArray<Value>& restriction_target() { return restricted ? *restricted : f; }
    GridArray<Value>& interpolation_source() { return correction ? *correction : e; }
  };

  /// Collective. Thread: the main thread, outside the team.
  CycleGrids(const comm_thread::Crew& crew, std::vector<LevelPlan<Value>> plan,
             const Options& options, perfmodel::PhaseTimer& timer);
  CycleGrids(const CycleGrids&) = delete;
  CycleGrids& operator=(const CycleGrids&) = delete;

  /// Points around the own ones of a grid at which its f is needed.
  int depth(std::size_t index) const { return DownPass<Value>::depth(options_.steps_on(index)); }
  /// Points around the own ones of the next finer grid at which a solution comes to its ranks.
  int solution_depth(std::size_t index) const;
  const Options& options() const { return options_; }
  const comm_thread::Crew& crew() const { return crew_; }
  const perfmodel::PhaseTimer& timer() const { return timer_; }
  /// The finest first.
  std::span<Level> levels() { return levels_; }
  std::span<const Level> levels() const { return levels_; }
  PassMemory<Value>& memory(const comm_thread::TeamThread& thread) {
    return memories_[static_cast<std::size_t>(thread.index)];
  }

  /// The direct solution, in the part after the coarsest grid's f has arrived. Every thread.
  void solve_coarsest(spmv::RowSet part, const comm_thread::TeamThread& thread);
  /// Work beside the exchange of `halo`, or alone where that is null or has no messages.
  /// Thread: every thread of the team. Ends with a barrier. Collective.
  void collective_run(const comm_thread::TeamThread& thread, const spmv::Work& work,
                      spmv::Halo* halo) const;

 private:
  void make_level(Level& level, std::size_t index);
  void make_passes(Level& level, std::size_t index);
  void run_alone(const comm_thread::TeamThread& thread, const spmv::Work& work) const;

  comm_thread::Crew crew_;
  Options options_;
  std::vector<Level> levels_;
  std::optional<CoarsestGrid> coarsest_;
  std::vector<PassMemory<Value>> memories_;  // [threads]
  perfmodel::PhaseTimer& timer_;
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
