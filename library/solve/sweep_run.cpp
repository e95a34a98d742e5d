#include "library/solve/sweep_run.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "comm_thread/channels/landing.h"
#include "comm_thread/engine/reproducible_sum.h"
#include "comm_thread/placement/compute_team.h"
#include "solver/report/stop_rule.h"
#include "solver/sweep/async_iteration.h"
#include "solver/sweep/disturbance.h"
#include "solver/sweep/sync_iteration.h"

namespace weft::library {
namespace {

/// The report of a breakdown, for a b so small that no residual can be judged. A run that stops at
/// once fills in everything else.
solver::IterationReport collective_refuse(const comm_thread::Communicator& communicator,
                                          comm_thread::CommThread& comm_thread,
                                          solver::Sweeper& sweeper, IterationSettings settings) {
  settings.max_iterations = 0;
  solver::IterationReport report =
      collective_sweep(communicator, comm_thread, sweeper, settings, 0);
  report.status = solver::SolveStatus::breakdown;
  report.explanation = solver::out_of_range;
  report.relative_residual = 1;
  return report;
}

solver::AsyncIteration::Options asynchronous(const IterationSettings& settings,
                                             const solver::Disturbance& disturbance,
                                             const SweepHooks& hooks) {
  return {.delivery = settings.variant == IterationVariant::racy ? comm_thread::Delivery::racy
                                                                 : comm_thread::Delivery::async,
          .transport = settings.transport,
          .max_in_flight = settings.max_in_flight,
          .halo_period = settings.sweeps_per_halo(),
          .contribution_period = settings.sweeps_per_check(),
          .detector = settings.detector,
          .tolerance = settings.tolerance,
          .max_iterations = settings.max_iterations,
          .fixed_seconds = settings.fixed_seconds,
          .disturbance = disturbance,
          .checkpoints = hooks.checkpoints,
          .on_contribution = hooks.on_check};
}

}  // namespace

solver::IterationReport collective_sweep(const comm_thread::Communicator& communicator,
                                         comm_thread::CommThread& comm_thread,
                                         solver::Sweeper& sweeper,
                                         const IterationSettings& settings, double b_norm,
                                         const SweepHooks& hooks) {
  settings.check();
  if (solver::StopRule({.tolerance = settings.tolerance}, b_norm).is_out_of_range())
    return collective_refuse(communicator, comm_thread, sweeper, settings);
  const solver::Disturbance disturbance(settings.parsed_faults(), communicator.rank());
  if (settings.is_sync()) {
    solver::SyncIteration iteration(communicator, comm_thread, sweeper,
                                    {.mode = settings.mode,
                                     .transport = settings.transport,
                                     .wait = settings.wait,
                                     .tolerance = settings.tolerance,
                                     .max_iterations = settings.max_iterations,
                                     .check_period = settings.sweeps_per_check(),
                                     .fixed_seconds = settings.fixed_seconds,
                                     .halo_period = settings.sweeps_per_halo(),
                                     .disturbance = disturbance,
                                     .checkpoints = hooks.checkpoints,
                                     .on_check = hooks.on_check});
    return iteration.run(b_norm);
  }
  solver::AsyncIteration iteration(communicator, comm_thread, sweeper,
                                   asynchronous(settings, disturbance, hooks));
  return iteration.run(b_norm);
}

double collective_start_residual(const comm_thread::Communicator& communicator,
                                 comm_thread::CommThread& comm_thread, solver::Sweeper& sweeper,
                                 std::span<const double> b) {
  comm_thread::ReproducibleSum square(communicator, comm_thread, sweeper.team().thread_count(), 1);
  sweeper.team().run([&](const comm_thread::TeamThread& thread) {
    sweeper.add_residual(thread, solver::SweepState::current, square.part(thread.index));
    square.collective_reduce(thread);
  });
  if (square.result() != 0) return std::sqrt(square.result());
  double largest = 0;
  for (const double value : b) largest = std::max(largest, std::abs(value));
  return communicator.max(largest);
}

}  // namespace weft::library
