#pragma once

#include "tools/job/program_job.h"
#include "tools/system/jacobi_options.h"
#include "tools/system/memory_forecast.h"
#include "tools/system/schwarz_options.h"

namespace weft::tools {

/// Memory that `weft jacobi` will need. The factors of --inner schwarz are forecast when its
/// subdomains are cut. Collective. Throws comm_thread::InputError.
MemoryForecast collective_forecast_jacobi(const Job& job, const JacobiOptions& options);

/// Memory that `weft schwarz` will need: of all tiles, and of a solver for each kind of them.
MemoryForecast forecast_schwarz(const Job& job, const SchwarzOptions& options);

}  // namespace weft::tools
