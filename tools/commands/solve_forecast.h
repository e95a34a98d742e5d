#pragma once

#include "spmv/matrix/sparse_operator.h"
#include "spmv/problems/problem.h"
#include "tools/job/program_job.h"
#include "tools/system/memory_forecast.h"
#include "tools/system/solve_options.h"

namespace weft::tools {

/// Memory of a rank for `weft solve`, from the size of the system and the options alone; without
/// the factors of Schwarz. `op`: with its halo and storage, where it is there already. Collective.
/// Throws comm_thread::InputError where a file cannot be read.
MemoryForecast collective_forecast_solve(const Job& job, const SolveOptions& options,
                                         const spmv::Problem& problem,
                                         const spmv::SparseOperator* op = nullptr);

}  // namespace weft::tools
