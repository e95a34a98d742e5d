#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "solver/simulation/sweep_run_options.h"
#include "solver/sweep/sweeper.h"

namespace weft::solver {

/// A rank that is slower than most.
struct SimulatedRankSpeed {
  int rank = 0;
  std::int64_t sweeps = 0;
};

/// Result of a simulation. Times are simulated seconds.
struct SweepSimulationResult {
  bool has_converged = false;
  double seconds = 0;
  std::int64_t least_sweeps = 0;
  double mean_sweeps = 0;
  std::int64_t most_sweeps = 0;
  double relative_residual = 0;
  std::uint64_t verification_count = 0;
  double mean_staleness = 0;  // of the halos used, in the sender's sweeps
  std::uint64_t message_count = 0;
  std::uint64_t skipped_count = 0;  // not sent because the channel was full
  double waiting_fraction = 0;  // of the ranks' time, in `sync`
  std::vector<SimulatedRankSpeed> slowest;  // ten at most
  std::uint64_t event_count = 0;
  std::uint64_t hash = 0;  // of all sweep counts and values: the same for the same seed
};

/// The values that one simulated rank sweeps: real ones, of a part smaller than the one that time
/// is charged for. The sweeper is for a team of one.
struct SimulatedValues {
  std::unique_ptr<Sweeper> sweeper;
  double (*sample)(const Sweeper& sweeper);  // one of the values: differs where runs differ
  std::span<const std::byte> memory{};  // of what a sweep reads, as far as it lies together
};

/// What the ranks of a simulation sweep, and what the clock and the messages are charged for it.
struct SweepCase {
  /// Values of a rank. Those of different `thread` are swept at the same time.
  std::function<SimulatedValues(int rank, std::size_t thread)> make_values{};
  /// The run ends where the sum of all contributions is at most this. A rank contributes the
  /// squares of its residuals, or where its tiles are judged the number of those that have not
  /// converged.
  double threshold = 0;
  double source_norm = 1;  // of all ranks: to what residuals are relative
  double charged_points = 0;  // of a sweep, beside Machine::seconds_per_sweep
  /// Fraction of the sweep of a rank that needs no halo. Empty: none.
  std::function<double(int rank)> interior_fraction{};
  double charged_values = 1;  // for each value in a message
  std::size_t largest_message = 0;  // values
};

/// Simulates sweeps with the channels, the continuous reduction, the detectors, the halo exchange
/// and the verification of the real program; times are those of MachineModel.
///
/// A rank's communication thread has a core of its own, or looks every
/// `Machine::poll_interval` seconds.
/// With `SweepRunOptions::thread_count` threads, each simulates consecutive ranks, in step with the
/// others by the lookahead of the network (NetworkGroup). Their number does not change the result.
/// Thread: one that may start a compute team. Not collective. Throws comm_thread::InputError for
/// options that are out of range.
SweepSimulationResult simulate_sweeps(const SweepRunOptions& options, const SweepCase& what);

}  // namespace weft::solver
