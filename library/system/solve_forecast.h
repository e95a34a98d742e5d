#pragma once

#include <cstdint>

#include "comm_thread/mpi/communicator.h"
#include "library/options/solve_settings.h"
#include "library/system/memory_forecast.h"
#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"

namespace weft::library {

/// What a solve has besides its settings.
struct SolveUse {
  std::int64_t column_count = 1;  // right-hand sides
  bool has_start = false;  // an x to begin with for each
  bool keeps_checkpoints = false;
};

/// Memory of a rank for a solve, from the size of the system and the settings alone; without the
/// factors of Schwarz. `op`: with its halo and storage, where it is there already. Collective.
/// Throws comm_thread::InputError where a file cannot be read.
MemoryForecast collective_forecast_solve(const comm_thread::Communicator& communicator,
                                         const spmv::Problem& problem,
                                         const SolveSettings& settings, const SolveUse& use,
                                         const spmv::SparseOperator* op = nullptr);

}  // namespace weft::library
