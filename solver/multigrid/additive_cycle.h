#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/multigrid/passes/tiles.h"
#include "spmv/rows/halo.h"
#include "spmv/rows/row_set.h"

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
template <class Value>
class AdditiveCycle final : public CycleOf<Value> {
 public:
  using Options = CycleOptions;

  /// As GridCycle.
  AdditiveCycle(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
                const comm_thread::ComputeTeam& team, std::vector<LevelPlan<Value>> plan,
                const Options& options, perfmodel::PhaseTimer& timer);

  /// Goes down from the points of the finest grid that need no halo, while another exchanges it.
  /// Thread: every thread of the team.
  void begin(const comm_thread::TeamThread& thread, const typename DownPass<Value>::Source& source);
  void collective_descend(const comm_thread::TeamThread& thread,
                          const typename DownPass<Value>::Source& source,
                          spmv::Halo* halo) override {
    collective_descend(thread, source, halo, spmv::RowSet::all);
  }
  /// The same; `part`: of the finest grid: `boundary` after `begin`, whose source was the same.
  void collective_descend(const comm_thread::TeamThread& thread,
                          const typename DownPass<Value>::Source& source, spmv::Halo* halo,
                          spmv::RowSet part);
  void collective_ascend(const comm_thread::TeamThread& thread,
                         const typename UpPass<Value>::Sink& sink) override;

 private:
  using CycleOf<Value>::grids_;
  using CycleOf<Value>::times_;
  using CycleOf<Value>::cycles_;
  using typename Cycle::LevelTimes;
  using typename Cycle::TimedPass;

  /// The tiles of one thread or of all, by thread.
  using Tiles = std::vector<std::vector<PassTile>>;

  /// What one grid has beside the arrays of a V-cycle: x is after smoothing from zero, e = y + w.
  /// The coarsest has none.
  struct Terms {
    GridArray<Value> y;  // Λ·f
    GridArray<Value> w;  // P̄·e of the coarser grids
    GridArray<Value> no_f;  // zeros
    GridArray<Value> no_e;
  };
  class UpWork;
  class BesideWork;

  void note_down_bytes(const comm_thread::TeamThread& thread, std::size_t index,
                       const typename DownPass<Value>::Source& source);
  void make_terms(std::size_t index);
  void make_slices();
  void smooth(std::size_t level, const Tiles& tiles, const comm_thread::TeamThread& thread,
              const std::function<void()>& pause);

  std::size_t own_byte_count() const override;

  std::vector<Terms> terms_;  // [grids]
  std::vector<Tiles> slices_;  // of the finest y: one for each exchange of the other grids
};

}  // namespace weft::solver
