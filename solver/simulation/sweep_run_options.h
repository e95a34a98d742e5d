#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "comm_thread/channels/transport_choice.h"
#include "comm_thread/termination/detector_kind.h"
#include "solver/simulation/machine.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

enum class SimulatedVariant { sync, async, racy };

/// Parses `sync`, `async` or `racy`. Throws comm_thread::InputError.
SimulatedVariant simulated_variant(std::string_view text);
/// Inverse of `simulated_variant`.
std::string name(SimulatedVariant variant);

/// Sweeps on a simulated machine, whatever is swept.
struct SweepRunOptions {
  Machine machine{};
  int rank_count = 32;
  SimulatedVariant variant = SimulatedVariant::async;
  spmv::Mode mode = spmv::Mode::task;  // of `sync`; not overlap_test
  comm_thread::DetectorKind detector = comm_thread::DetectorKind::residual;
  double tolerance = 1e-4;
  std::int64_t max_sweeps = 1'000'000;  // of any rank
  int max_in_flight = 100;
  /// What carries the channels of asynchronous variants: `two_sided`, `one_sided` or `shmem`.
  comm_thread::TransportChoice transport{};
  int halo_period = 1;
  int contribution_period = 10;  // also of the residuals of `sync`
  /// The detector `residual` runs the schedules of the real program, not TreeReduction: the same
  /// results, later. For tests.
  bool reduces_by_schedules = false;
  std::uint64_t seed = 1;
  /// Threads of the simulation itself, at most: fewer where ranks are few, and one of `sync`, which
  /// meets all the time, and of detectors that reduce by the network.
  int thread_count = 1;
  /// More than two of them where each gets so many ranks. Tests set it to 1.
  int fewest_ranks_a_thread = 1024;
};

/// Jacobi sweeps on a simulated machine: what is simulated, and for what it stands.
struct JacobiSimulationOptions : SweepRunOptions {
  int points = 50;  // per direction of a part: what the clock and the messages are charged for
  int real_points = 4;  // per direction of a part: what is swept
};

/// Throw comm_thread::InputError for options that are out of range.
void check(const SweepRunOptions& options);
void check(const JacobiSimulationOptions& options);

}  // namespace weft::solver
