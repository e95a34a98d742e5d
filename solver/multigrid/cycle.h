#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm_thread/placement/compute_team.h"
#include "perfmodel/phase_times.h"
#include "solver/multigrid/cycle_options.h"
#include "solver/multigrid/grids/grid_level.h"
#include "solver/multigrid/level_report.h"
#include "spmv/grid/grid_layout.h"

namespace weft::solver {

/// One cycle on the grids of a problem: z ≈ A⁻¹·r, symmetric. Base of GridCycle: the parts that
/// float and double share.
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

}  // namespace weft::solver
