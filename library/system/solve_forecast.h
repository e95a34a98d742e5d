#pragma once

#include <cstdint>

#include "comm_thread/mpi/communicator.h"
#include "library/options/solve_settings.h"
#include "library/system/linear_system.h"
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

/// The forecast once the system is there, with what a solver has chosen. What the process had
/// before is known from the `first`. Collective.
MemoryForecast collective_forecast_chosen(const LinearSystem& system, SolveSettings chosen,
                                          const SolveUse& use, const MemoryForecast& first);

/// Adds the bytes of a preconditioner that is made of a matrix, where they are known before. After
/// those of the vectors. `op`: the matrix, where it is there already, else null. Collective.
void collective_add_preconditioner(const SolveSettings& settings, const spmv::Problem& problem,
                                   const SystemSize& size, const spmv::SparseOperator* op,
                                   MemoryForecast& forecast);

}  // namespace weft::library
