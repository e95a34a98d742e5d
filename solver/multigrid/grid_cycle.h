#pragma once

#include <cstddef>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle.h"
#include "solver/multigrid/cycle_grids.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/level_report.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/precondition/solve_unit.h"
#include "spmv/grid/grid_layout.h"
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
class GridCycle final : public Cycle {
 public:
  /// On planned grids, whose couplings may vary. Collective. Thread: the main thread, outside the
  /// team. `communicator`: of the communication thread.
  GridCycle(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
            const comm_thread::ComputeTeam& team, std::vector<LevelPlan<Value>> plan,
            const Options& options, perfmodel::PhaseTimer& timer);

  /// Points around the own ones at which the residual of the finest grid is needed.
  int depth() const { return grids_.depth(0); }

  /// The right-hand side of the finest grid, for a source that is an array, with its halo.
  GridArray<Value>& right_hand_side() { return grids_.levels().front().f; }
  spmv::Halo& right_hand_side_halo() { return *grids_.levels().front().f_halo; }

  /// Down to the coarsest grid and its solution. `source`: of the finest grid, for this thread: the
  /// array is `right_hand_side`, or, with a residual, the copy is; `halo`: of the source, exchanged
  /// beside the first pass, or null.
  /// Thread: every thread of the team, after a barrier. Ends with one. Collective.
  void collective_descend(const comm_thread::TeamThread& thread,
                          const typename DownPass<Value>::Source& source, spmv::Halo* halo);
  /// Up again. Thread: as above.
  void collective_ascend(const comm_thread::TeamThread& thread,
                         const typename UpPass<Value>::Sink& sink);

  void begin_solve() override { unit_.begin_solve(); }
  void collective_apply(const comm_thread::TeamThread& thread, const spmv::GridLayout& layout,
                        const double* r, double* z) override;
  CycleReport report() override;

 private:
  template <class>
  friend class FullStart;

  class UpWork;

  /// The pass down of one grid. `halo`: beside it, or null. Every thread.
  void descend_from(const comm_thread::TeamThread& thread, std::size_t index,
                    const typename DownPass<Value>::Source& source, spmv::Halo* halo);
  /// A cycle on grid `index`, not the finest, from its f, whose halo is there, to its e. Every
  /// thread.
  void collective_cycle_from(const comm_thread::TeamThread& thread, std::size_t index);
  /// The pass up to one grid. Every thread.
  void ascend_to(const comm_thread::TeamThread& thread, std::size_t index,
                 const typename UpPass<Value>::Sink& sink);

  CycleGrids<Value> grids_;
  SolveUnit unit_;  // of `collective_apply`
};

}  // namespace weft::solver
