#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/exact_accumulator.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/placement/compute_team.h"
#include "comm_thread/termination/contribution_history.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/report/iteration_report.h"
#include "solver/report/iteration_timer.h"
#include "solver/report/solve_report.h"
#include "solver/sweep/disturbance.h"
#include "solver/sweep/halo_refresh.h"
#include "solver/sweep/sweeper.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// Sweeps synchronously: all ranks make the same number of sweeps, each from fresh halos, and test
/// the residual every `check_period` sweeps. Iterations and values are the same, to the last bit,
/// for any number of ranks and threads and in any mode, as far as the sweeper's are.
///
///     check at 0 ─► K sweeps ─► check at K ─► K sweeps ─► … until ‖b − A·x‖ < tolerance·‖b‖
///
/// The residual is computed in the pass that makes the first sweep after the check, and costs no
/// pass of its own; when it is small enough that sweep is left out of the result. Between checks,
/// and as far as halos are deep, several sweeps are made in one pass through memory
/// (Sweeper::advance).
/// Source: Bethune et al. 2012, section 3.1.1 (sync).
class SyncIteration {
 public:
  struct Options {
    spmv::Mode mode = spmv::Mode::task;
    /// Transport of the halos: schedules where it is `two_sided`, else channels, which the
    /// communication thread carries in every mode.
    comm_thread::TransportChoice transport{};
    /// Of schedules; channels have what they have received one by one.
    HaloWait wait = HaloWait::all;
    double tolerance = 1e-4;  // not used where tiles are judged
    std::int64_t max_iterations = 1'000'000;
    int check_period = 100;
    /// Above 0: the run ends at the first check after so many seconds, converged or not.
    double fixed_seconds = 0;
    /// Halos are refreshed before sweeps whose number is a multiple of it only (where they are
    /// several points deep: before every so many-th exchange), and before checks. More than 1
    /// sweeps with old ones.
    int halo_period = 1;
    Disturbance disturbance{};
    /// Opened for the sweeper's kept_state(); null: none. The run ends where one asks for that.
    Checkpoints* checkpoints = nullptr;
    /// Called by the primary thread of every rank after each check, with the relative residual.
    std::function<void(std::int64_t iteration, double residual)> on_check{};
  };

  /// Collective, and so is destruction. Thread: the main thread, outside the team. All outlive it.
  /// Throws comm_thread::InputError for options that are out of range, and where channels cannot be
  /// made so (ChannelSet).
  SyncIteration(const comm_thread::Communicator& communicator, comm_thread::CommThread& comm_thread,
                Sweeper& sweeper, Options options);

  /// Sweeps from the sweeper's current values, or from those of a checkpoint. `b_norm`: ‖b‖, the
  /// same on all ranks; where it is 0 residuals are absolute. Collective. Thread: the main thread,
  /// outside the team. Throws comm_thread::MpiError.
  IterationReport run(double b_norm);

 private:
  void iterate(const comm_thread::TeamThread& thread, double b_norm, IterationReport& report);
  /// One sweep, without its `finish_sweep`, from a fresh halo where `is_exchanging`.
  void sweep(const comm_thread::TeamThread& thread, bool is_exchanging,
             comm_thread::ExactAccumulator* residual_square);
  /// `iteration`: sweeps so far, with this one.
  void finish_sweep(const comm_thread::TeamThread& thread, std::int64_t iteration);
  /// At least one whole sweep, none beyond iteration `end`; returns how many.
  int collective_advance(const comm_thread::TeamThread& thread, std::int64_t iteration,
                         std::int64_t end);
  void refresh_halo(const comm_thread::TeamThread& thread);
  class SweepScope;
  void disturb(const comm_thread::TeamThread& thread, int sweep_count);
  bool is_exchange_due(std::int64_t iteration) const;
  /// The number of sweeps that has led to the values to begin with.
  std::int64_t collective_begin(const comm_thread::TeamThread& thread);
  /// Thread: the primary one, while the others wait.
  void ask(std::int64_t iteration);
  /// True if the state after `iteration` sweeps is to be kept.
  bool is_keeping(std::int64_t iteration) const;
  /// Keeps it; true if the run is to end.
  bool collective_keep(const comm_thread::TeamThread& thread, std::int64_t iteration);
  /// The relative residual of the current values; by the way makes the new ones, unfinished.
  double collective_sweep_and_check(const comm_thread::TeamThread& thread, double b_norm);
  double collective_residual(const comm_thread::TeamThread& thread, double b_norm);
  /// Residual from the contributions of all threads of all ranks.
  double collective_sum_up(const comm_thread::TeamThread& thread, double b_norm);
  /// Status of the iteration at this residual, the last one summed up.
  SolveStatus status_of(double residual) const;
  /// True if the iteration ends at the residual summed up last.
  bool is_over(double residual) const;
  void note(const comm_thread::TeamThread& thread, std::int64_t iteration, double residual,
            IterationReport& report);

  comm_thread::CommThread& comm_thread_;
  Sweeper& sweeper_;
  Options options_;
  std::unique_ptr<HaloRefresh> halo_;
  // Indices of the sums; only the first exists where the others are not needed.
  static constexpr int squares = 0;
  static constexpr int unconverged_tiles = 1;
  static constexpr int ranks_out_of_time = 2;
  static constexpr int sum_count = 3;
  comm_thread::ReproducibleSum sums_;

  // Of the current run, the primary thread's.
  IterationTimer timer_;
  Disturbance disturbance_;
  double swept_cpu_seconds_ = 0;  // for which no pause has been made; of a run that is disturbed
  double own_square_ = 0;  // of this rank, in the residual summed up last
  comm_thread::ContributionHistory own_squares_;
  /// Written by the primary thread between two barriers, read by all after the second.
  Checkpoints::Wish wish_ = Checkpoints::Wish::none;
  std::int64_t kept_iteration_ = -1;  // of the newest state that is in a file; so, too
  std::int64_t sweeps_between_ = 1;  // states that can be kept
};

}  // namespace weft::solver
