#pragma once

#include <cstdint>
#include <vector>

#include "solver/panels/search_steps.h"
#include "solver/simulation/halo_graph.h"
#include "solver/simulation/machine.h"
#include "spmv/modes/mode.h"

namespace weft::solver {

/// A search for eigenvalues on a simulated machine.
struct EigenSimulationOptions {
  Machine machine{};
  spmv::Mode mode = spmv::Mode::task;  // not overlap_test
  /// What a product reads of the matrix for each nonzero: a column and a value, or less where rows
  /// repeat.
  double bytes_per_nonzero = 12;
  std::uint64_t seed = 1;
};

/// Result of a simulation. Times are simulated seconds.
struct EigenSimulationResult {
  double seconds = 0;
  std::vector<double> space_seconds;  // of each search space, and what follows the last
  /// Of the ranks' time. Together 1, but for ranks that are done before the last one.
  struct Shares {
    double product = 0;  // computing
    double halo_wait = 0;
    double pass = 0;  // over vectors: orthogonalisation, rotation
    double sum_wait = 0;
    double dense = 0;
  } shares;
  std::int64_t block_products = 0;
  std::int64_t products = 0;  // of one vector
  std::int64_t sums = 0;
  int restarts = 0;
  /// Of all ranks.
  std::int64_t halo_messages = 0;
  std::int64_t sum_messages = 0;
  double message_bytes = 0;
};

/// Simulates the steps of a search, which a real one of FilteredLanczos has recorded, on the ranks
/// of `graph`. Each rank computes as long as the slower of its memory and its arithmetic takes.
///
/// Thread: one. Not collective. Throws comm_thread::InputError for options that are out of range.
EigenSimulationResult simulate_eigen(const SearchSteps& steps, const HaloGraph& graph,
                                     const EigenSimulationOptions& options);

}  // namespace weft::solver
