#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle_grids.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grids/grid_array.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/level_plan.h"
#include "solver/multigrid/level_report.h"
#include "solver/multigrid/passes/grid_pass.h"
#include "solver/precondition/solve_unit.h"
#include "spmv/grid/layout.h"
#include "spmv/rows/halo.h"

namespace weft::solver {

/// One cycle on the grids of a problem: z ≈ A⁻¹·r, symmetric. What does not depend on its
/// precision; the rest is that of CycleOf.
class Cycle {
 public:
  using Options = CycleOptions;

  virtual ~Cycle() = default;
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  const Options& options() const { return options_; }
  const GridLevel& finest() const { return finest_; }
  /// Of this cycle times A, where couplings are the same at all points; the largest eigenvalue
  /// is 1.
  double least_eigenvalue() const { return least_eigenvalue_; }

  /// The next right-hand side of `collective_apply` is the first of a solve.
  /// Thread: the main thread, outside the team.
  virtual void begin_solve() = 0;

  /// z ≈ A⁻¹·r. Shape: r, z: arrays of `layout`. Thread: every thread of the team, after a barrier.
  /// Ends with one. Collective.
  virtual void collective_apply(const comm_thread::TeamThread& thread,
                                const spmv::GridLayout& layout, const double* r, double* z) = 0;

  /// What each grid took since the last call of `forget_times`. Of the finest grid it has no halo
  /// of a source that is no array. Thread: the main thread, outside the team.
  virtual CycleReport report() = 0;
  void forget_times();

 protected:
  /// `grids`: the finest first.
  Cycle(const Options& options, std::span<const GridLevel> grids);

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

  /// Adds the time from its construction to its end to `times`, and records it in a trace. Thread:
  /// every thread of the team; only the primary one is timed.
  class TimedPass {
   public:
    TimedPass(const perfmodel::PhaseTimer& timer, const comm_thread::TeamThread& thread,
              PassTimes& times, const char* name);
    ~TimedPass();
    TimedPass(const TimedPass&) = delete;
    TimedPass& operator=(const TimedPass&) = delete;

   private:
    const perfmodel::PhaseTimer& timer_;
    PassTimes& times_;
    const char* name_;
    bool is_timed_;
    double waited_ = 0;
    std::int64_t begin_ = 0;
  };

  std::vector<LevelTimes> times_;  // [grids]
  std::int64_t cycles_ = 0;

 private:
  Options options_;
  GridLevel finest_;
  double least_eigenvalue_ = 0;
};

/// A cycle whose values are float or double. Derived classes say in which order the passes of the
/// grids run: GridCycle, AdditiveCycle.
/// Lifetime: what it is constructed with outlives it.
template <class Value>
class CycleOf : public Cycle {
 public:
  /// Points around the own ones at which the residual of the finest grid is needed.
  int depth() const { return grids_.depth(0); }

  /// The right-hand side of the finest grid, for a source that is an array, with its halo.
  GridArray<Value>& right_hand_side() { return grids_.levels().front().f; }
  spmv::Halo& right_hand_side_halo() { return *grids_.levels().front().f_halo; }

  /// Down to the coarsest grid and its solution. `source`: of the finest grid, for this thread: the
  /// array is `right_hand_side`, or, with a residual, the copy is; `halo`: of the source, exchanged
  /// beside the first pass, or null.
  /// Thread: every thread of the team, after a barrier. Ends with one. Collective.
  virtual void collective_descend(const comm_thread::TeamThread& thread,
                                  const typename DownPass<Value>::Source& source,
                                  spmv::Halo* halo) = 0;
  /// Up again. Thread: as above.
  virtual void collective_ascend(const comm_thread::TeamThread& thread,
                                 const typename UpPass<Value>::Sink& sink) = 0;

  void begin_solve() override { unit_.begin_solve(); }
  void collective_apply(const comm_thread::TeamThread& thread, const spmv::GridLayout& layout,
                        const double* r, double* z) override;
  CycleReport report() override;

 protected:
  /// `first_tag`: of the messages. Collective. Thread: the main thread, outside the team.
  /// `communicator`: of the communication thread.
  CycleOf(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
          const comm_thread::ComputeTeam& team, std::vector<LevelPlan<Value>> plan,
          const Options& options, int first_tag, perfmodel::PhaseTimer& timer);

  /// Memory besides that of `grids_`.
  virtual std::size_t own_byte_count() const { return 0; }

  CycleGrids<Value> grids_;

 private:
  SolveUnit unit_;  // of `collective_apply`
};

}  // namespace weft::solver
