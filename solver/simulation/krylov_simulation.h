#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "solver/simulation/machine.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// What simulated ranks repeat.
enum class SimulatedKrylov {
  spmv,  // products alone
  cg,  // textbook: two all-reduces an iteration, both waited for
  cg_one_reduction,  // Chronopoulos, Gear 1989: one
  cg_pipelined,  // Ghysels, Vanroose 2014: one, which travels during the product
};

/// Parses `spmv`, `cg`, `cg-one-reduction` or `cg-pipelined`. Throws comm_thread::InputError.
SimulatedKrylov simulated_krylov(std::string_view text);
/// Inverse of `simulated_krylov`.
std::string name(SimulatedKrylov method);

/// Conjugate gradients on a simulated machine: what is simulated, and for what it stands.
struct KrylovSimulationOptions {
  Machine machine{};
  int rank_count = 32;
  int points = 50;  // per direction of a part: what the clock and the messages are charged for
  int real_points = 4;  // per direction of a part: what is computed
  SimulatedKrylov method = SimulatedKrylov::cg;
  spmv::Mode mode = spmv::Mode::task;  // not overlap_test
  /// Duration of a product beside that of a sweep: 1 where memory bounds it, more where it
  /// computes.
  double product_passes = 1;
  double tolerance = 1e-6;  // of `spmv`: without meaning
  int max_iterations = 100;
  std::uint64_t seed = 1;
};

/// Result of a simulation. Times are simulated seconds.
struct KrylovSimulationResult {
  bool has_converged = false;
  int iteration_count = 0;
  double seconds = 0;
  double relative_residual = 0;  // of the recurrence; 0 for `spmv`
  double halo_wait_fraction = 0;  // of the ranks' time
  double sum_wait_fraction = 0;
  std::uint64_t event_count = 0;
  /// Hash of all values: the same for all modes and machines. Times are not part of it.
  std::uint64_t value_hash = 0;
};

/// Simulates conjugate gradients for the 7-point Laplacian, or its products, on cubes of points,
/// one for each rank: real values on small parts, with the halo exchange, the recursive doubling,
/// the exact sums and the communication thread of the real program; times are those of
/// MachineModel, for what a pass moves to and from memory.
///
/// Thread: one. Not collective. Throws comm_thread::InputError for options that are out of range.
/// Source: Hoefler et al. 2006, listing 1.1 and 1.2, for the problem and the order of operations.
KrylovSimulationResult simulate_krylov(const KrylovSimulationOptions& options);

}  // namespace weft::solver
