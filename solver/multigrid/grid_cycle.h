#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm_thread/engine/crew.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/levels/level_report.h"
#include "solver/multigrid/cycle_grids.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "spmv/rows/halo.h"

namespace weft::solver {

/// A V-cycle on the grids of a problem, with values of float or double: z ≈ A⁻¹·r.
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
template <class Value>
class GridCycle {
 public:
  /// On planned grids, whose couplings may vary. Collective. Thread: the main thread, outside the
  /// team.
  GridCycle(const comm_thread::Crew& crew, std::vector<LevelPlan<Value>> plan,
            const CycleOptions& options, perfmodel::PhaseTimer& timer);

  const GridLevel& finest() const { return grids_.levels().front().grid; }
  /// Lower bound of the eigenvalues of this cycle times A where couplings are the same at all
  /// points; the upper one is 1.
  double least_eigenvalue() const;
  /// Points around the own ones at which the residual of the finest grid is needed.
  int depth() const { return grids_.depth(0); }

  /// The right-hand side of the finest grid, for a source that is an array, with its halo.
  GridArray<Value>& right_hand_side() { return grids_.levels().front().f; }
  spmv::Halo& right_hand_side_halo() { return *grids_.levels().front().f_halo; }

  /// The first pass of a cycle, down from the finest grid. `source`: for this thread: the array is
  /// `right_hand_side`, or, with a residual, the copy is; `halo`: of the source, exchanged beside
  /// the pass, or null.
  /// Thread: every thread of the team, after a barrier. Ends with one. Collective.
  void collective_descend(const comm_thread::TeamThread& thread,
                          const typename DownPass<Value>::Source& source, spmv::Halo* halo) {
    descend_from(thread, 0, source, halo);
  }
  /// The rest of a cycle. Thread: as above.
  void collective_ascend(const comm_thread::TeamThread& thread,
                         const typename UpPass<Value>::Sink& sink);

  /// What each grid took since the last call of `forget_times`. Of the finest grid it has no halo
  /// of a source that is no array. Thread: the main thread, outside the team.
  LevelsReport report();
  void forget_times();

 private:
  template <class>
  friend class FullStart;

  class TimedPass;

  /// What the passes of one grid have taken; bytes of the model are those per point.
  struct LevelTimes {
    double coarse_share = 0;  // points of the next grid by those of this one
    PassReport down{};
    PassReport up{};
    const char* down_name = "";  // in traces
    const char* up_name = "";
  };

  /// For run_cycle, from the f of grid `first`, whose halo is there, to its e.
  struct Steps {
    int corrections(std::size_t index) const {
      return index + 1 < cycle.grids_.levels().size() ? 1 : 0;
    }
    void solve(std::size_t index) const { descend(index, true); }
    void descend(std::size_t index, bool is_first) const;
    void ascend(std::size_t index, bool is_last) const;

    GridCycle& cycle;
    const comm_thread::TeamThread& thread;
    std::size_t first;
  };

  /// The pass down of one grid. `halo`: beside it, or null. Every thread.
  void descend_from(const comm_thread::TeamThread& thread, std::size_t index,
                    const typename DownPass<Value>::Source& source, spmv::Halo* halo);
  /// The pass up to one grid. Every thread.
  void ascend_to(const comm_thread::TeamThread& thread, std::size_t index,
                 const typename UpPass<Value>::Sink& sink);

  CycleGrids<Value> grids_;
  std::vector<LevelTimes> times_;  // [grids]
  std::int64_t cycles_ = 0;
};

}  // namespace weft::solver
