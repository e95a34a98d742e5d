#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "library/options/eigen_settings.h"
#include "library/solve/solve_description.h"
#include "library/system/linear_system.h"
#include "solver/eigen/eigen_report.h"
#include "solver/panels/search_steps.h"
#include "solver/simulation/machine.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// What `weft simulate eigen` is asked for, beside the search.
struct SearchSimulationSettings {
  EigenSettings eigen;
  solver::Machine machine{};
  std::vector<int> rank_counts{1, 64, 4096, 32768};
  std::vector<std::string> modes{"task"};
  std::uint64_t seed = 1;
  int seed_count = 1;

  /// Throws comm_thread::InputError for a search other than lanczos from one end.
  void check_search() const;
};

/// A real search, and what it did.
struct RecordedSearch {
  solver::EigenReport report;
  solver::SearchSteps steps;
  std::int64_t rows = 0;
  double bytes_per_nonzero = 0;  // of the matrix as it was stored
};

/// Searches for eigenvalues of the matrix of `system`, and records the steps. Collective. Thread:
/// the main thread, outside the team. Throws comm_thread::InputError, too, for a matrix so small
/// that it is solved whole.
RecordedSearch collective_record_search(LinearSystem& system, const EigenSettings& settings);

/// What a report says of a real search.
Json search_json(const RecordedSearch& recorded);

/// Simulates the recorded steps for the rows of `problem`, a generated one, or of that of `system`,
/// which was searched, on each number of ranks, in each mode and with each seed. Returns a report
/// of each run, by the names of docs/reference/json.md. Throws comm_thread::InputError.
Json simulated_searches(const SearchSimulationSettings& settings, const spmv::Problem& problem,
                        const LinearSystem& system, const RecordedSearch& recorded);

}  // namespace weft::library
