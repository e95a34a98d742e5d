#pragma once

#include <cstdint>
#include <vector>

#include "solver/simulation/jacobi_options.h"

namespace weft::solver {

/// A rank that is slower than most.
struct SimulatedRankSpeed {
  int rank = 0;
  std::int64_t sweeps = 0;
};

/// Result of a simulation. Times are simulated seconds.
struct JacobiSimulationResult {
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

/// Simulates Jacobi sweeps of the diffusion problem on cubes of points, one for each rank: real
/// values on small parts, swept by the kernel of GridSweeper, with the channels, the continuous
/// reduction, the detectors, the halo exchange and the verification of the real program; times are
/// those of MachineModel.
///
/// A rank's communication thread has a core of its own, or looks every
/// `Machine::poll_interval` seconds.
/// Thread: one. Not collective. Throws comm_thread::InputError for options that are out of range.
/// Source: Bethune et al. 2012, section 3, for the problem and the variants.
JacobiSimulationResult simulate_jacobi(const JacobiSimulationOptions& options);

}  // namespace weft::solver
