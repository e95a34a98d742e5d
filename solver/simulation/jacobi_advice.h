#pragma once

#include <cstddef>
#include <vector>

#include "solver/simulation/sweep_run_options.h"

namespace weft::solver {

/// Settings that were tried, and what they took with each seed.
struct JacobiTrial {
  JacobiSimulationOptions options{};  // with the first seed
  std::vector<double> seconds{};  // simulated, in the order of the seeds; infinite if not converged

  bool is_sync() const { return options.variant == SimulatedVariant::sync; }
  double mean() const;
  /// Largest less smallest, relative to the mean.
  double spread() const;
};

/// What to use on a machine, by simulations.
struct JacobiAdvice {
  std::vector<JacobiTrial> trials;  // at the ranks asked for
  std::size_t best = 0;  // of the trials
  std::size_t best_sync = 0;
  std::size_t best_async = 0;
  /// Seeds with which the best one of the other kind (synchronous or not) took longer than `best`.
  int seeds_won = 0;

  /// Best synchronous and best asynchronous settings at fewer ranks, too.
  struct Scaling {
    int rank_count = 0;
    double sync_seconds = 0;
    double async_seconds = 0;
  };
  std::vector<Scaling> scaling;  // ascending
  /// Fewest of the ranks tried from which on asynchronous is quicker up to the ranks asked for; 0:
  /// it is not.
  int async_pays_from = 0;
};

/// Tries variants, modes, transports, halo periods and numbers of messages in flight on the machine
/// and the problem of `base`, each with `seed_count` seeds from its seed on.
///
/// Thread: one. Not collective. Throws comm_thread::InputError as `simulate_jacobi`.
JacobiAdvice advise_jacobi(const JacobiSimulationOptions& base, int seed_count);

}  // namespace weft::solver
