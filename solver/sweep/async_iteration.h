#pragma once

#include <cstdint>
#include <functional>

#include "comm_thread/channels/landing.h"
#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/mpi/communicator.h"
#include "comm_thread/termination/detector_kind.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/report/iteration_report.h"
#include "solver/sweep/disturbance.h"
#include "solver/sweep/sweeper.h"
#include "solver/sweep/sweeper_halo.h"

namespace weft::solver {

/// Sweeps asynchronously: every rank goes on with the newest halos that have come (AIAC), its
/// threads in step with each other, the ranks not.
///
/// From fresh halos at the start, each sweep: take what has arrived, sweep, send to every neighbour
/// whose channel has room. Every
/// `contribution_period` sweeps the rank's part of ‖b − A·x‖² goes to the termination detector;
/// or after every sweep the number of tiles that have not converged, where they are judged.
/// When it fires, all ranks refresh their halos and compute the true residual; if that misses the
/// tolerance, sweeping goes on. So the reported residual is the true one.
/// Source: Bethune et al. 2012, sections 3.1.2 (async) and 3.1.3 (racy), and the verification that
/// section 3.1.2 proposes.
class AsyncIteration {
 public:
  static constexpr int automatic_halo_period = 0;

  struct Options {
    comm_thread::Delivery delivery = comm_thread::Delivery::async;
    comm_thread::TransportChoice transport{};
    int max_in_flight = 100;  // R, per channel and direction
    int halo_period = 1;  // send every so many sweeps; or automatic_halo_period
    int contribution_period = 10;
    comm_thread::DetectorKind detector = comm_thread::DetectorKind::residual;
    double tolerance = 1e-4;  // not used where tiles are judged
    std::int64_t max_iterations = 1'000'000;  // of any rank
    /// Above 0: the run lasts so long, on the first rank for which the time is over, and nobody
    /// looks for convergence meanwhile.
    double fixed_seconds = 0;
    Disturbance disturbance{};
    /// As SyncIteration's. Ranks keep what they have when they learn that a checkpoint is due, and
    /// a run that goes on from one has the same solution up to the tolerance, not the same bits.
    Checkpoints* checkpoints = nullptr;
    /// Called by the primary thread of every rank after each contribution, with its part of the
    /// relative residual and the sweeps that had led to it.
    std::function<void(std::int64_t iteration, double residual)> on_contribution{};
  };

  /// Collective. Thread: the main thread, outside the team. All outlive it.
  /// Throws comm_thread::InputError for options that are out of range.
  AsyncIteration(const comm_thread::Communicator& communicator,
                 comm_thread::CommThread& comm_thread, Sweeper& sweeper, Options options);

  /// As SyncIteration::run, and throws comm_thread::InputError where MPI does not allow checkpoints
  /// without waiting. Nothing is in flight when it returns. Where a residual is not finite
  /// the run ends early. Throws comm_thread::InputError where channels cannot be made so
  /// (ChannelSet).
  IterationReport run(double b_norm);

 private:
  class Run;

  const comm_thread::Communicator& communicator_;
  comm_thread::CommThread& comm_thread_;
  Sweeper& sweeper_;
  Options options_;
  SweeperHalo halo_;  // for synchronous refreshes
  /// Of verifications: squares of b − A·x; and tiles that have not converged, where they are
  /// judged.
  comm_thread::ReproducibleSum true_sums_;
};

}  // namespace weft::solver
