#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "comm_thread/engine/comm_thread.h"
#include "comm_thread/mpi/communicator.h"
#include "library/options/iteration_settings.h"
#include "solver/checkpoint/checkpoints.h"
#include "solver/report/iteration_report.h"
#include "solver/sweep/sweeper.h"

namespace weft::library {

/// What a run of sweeps is told besides its settings. Each may be null.
struct SweepHooks {
  /// Opened for the sweeper's kept_state(). The run begins from the state that it has.
  solver::Checkpoints* checkpoints = nullptr;
  /// Called by the primary thread of every rank after each look at the residual, which is that of
  /// the rank's own part where ranks do not wait for each other.
  std::function<void(std::int64_t iteration, double residual)> on_check{};
};

/// Sweeps until the residual is below the tolerance of `settings` times `b_norm`, waiting for other
/// ranks or not, over channels or not, as `settings` say: all sweeps of the program and of
/// weft::Iteration run here.
/// `b_norm`: the same on all ranks; where it is 0 residuals are absolute, and where it is so small
/// that squares of residuals leave the range of double, the run is a breakdown. Collective. Thread:
/// the main thread, outside the team. Throws comm_thread::InputError for settings that contradict
/// each other or the MPI library, comm_thread::MpiError.
solver::IterationReport collective_sweep(const comm_thread::Communicator& communicator,
                                         comm_thread::CommThread& comm_thread,
                                         solver::Sweeper& sweeper,
                                         const IterationSettings& settings, double b_norm,
                                         const SweepHooks& hooks = {});

/// ‖b − A·x‖ at the sweeper's values and halo: ‖b‖ where both are 0. Where its square is 0, the
/// largest value of `b`, which may be empty. Collective. Thread: as above.
double collective_start_residual(const comm_thread::Communicator& communicator,
                                 comm_thread::CommThread& comm_thread, solver::Sweeper& sweeper,
                                 std::span<const double> b = {});

}  // namespace weft::library
