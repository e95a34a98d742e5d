#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm_thread/termination/detector_kind.h"
#include "solver/simulation/machine.h"

namespace weft::solver {

enum class SimulatedVariant { sync, async, racy };

/// Parses `sync`, `async` or `racy`. Throws comm_thread::InputError.
SimulatedVariant simulated_variant(std::string_view text);
/// Inverse of `simulated_variant`.
std::string name(SimulatedVariant variant);

/// Jacobi sweeps on a simulated machine: what is simulated, and for what it stands.
struct JacobiSimulationOptions {
  Machine machine{};
  int rank_count = 32;
  int points = 50;  // per direction of a part: what the clock and the messages are charged for
  int real_points = 4;  // per direction of a part: what is swept
  SimulatedVariant variant = SimulatedVariant::async;
  /// Of `sync`: interior points are swept while the halo travels (task mode), or nothing is (vector
  /// mode).
  bool overlaps = true;
  comm_thread::DetectorKind detector = comm_thread::DetectorKind::residual;
  double tolerance = 1e-4;
  std::int64_t max_sweeps = 1'000'000;  // of any rank
  int max_in_flight = 100;
  int halo_period = 1;
  int contribution_period = 10;  // also of the residuals of `sync`
  std::uint64_t seed = 1;
};

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
