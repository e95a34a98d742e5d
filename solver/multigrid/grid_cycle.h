#pragma once

#include <cstddef>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "spmv/rows/halo.h"

namespace weft::solver {

/// A V-cycle on the grids of a problem: z ≈ A⁻¹·r.
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
class GridCycle final : public CycleOf<Value> {
 public:
  using Options = CycleOptions;

  /// As CycleOf, on planned grids, whose couplings may vary.
  GridCycle(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
            const comm_thread::ComputeTeam& team, std::vector<LevelPlan<Value>> plan,
            const Options& options, perfmodel::PhaseTimer& timer);

  void collective_descend(const comm_thread::TeamThread& thread,
                          const typename DownPass<Value>::Source& source,
                          spmv::Halo* halo) override;
  void collective_ascend(const comm_thread::TeamThread& thread,
                         const typename UpPass<Value>::Sink& sink) override;

 private:
  using CycleOf<Value>::grids_;
  using CycleOf<Value>::times_;
  using CycleOf<Value>::cycles_;
  using typename Cycle::LevelTimes;
  using typename Cycle::TimedPass;

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
};

}  // namespace weft::solver
