#pragma once

#include "spmv/problems/problem.h"
#include "tools/job/job.h"
#include "tools/system/memory_forecast.h"
#include "tools/system/solve_options.h"

namespace weft::tools {

/// Memory of a rank for `weft solve`, from the size of the system and the options alone; without
/// the factors of Schwarz. Collective. Throws comm_thread::InputError where a file cannot be read.
MemoryForecast collective_forecast_solve(const Job& job, const SolveOptions& options,
                                         const spmv::Problem& problem);

}  // namespace weft::tools
