#pragma once

#include <string>

#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/system/jacobi_options.h"
#include "tools/system/jacobi_system.h"

namespace weft::tools {

/// Results of one run, over all ranks (docs/reference/json.md, `jacobi`). Collective; complete on
/// rank 0.
Json collective_run_report(const Job& job, const JacobiSystem& system, const JacobiOptions& options,
                           const JacobiRun& run);

/// Description of the system. Complete on every rank.
Json system_report(const JacobiSystem& system);

/// The report of a run for people.
void print_run(const Json& run);

/// "warning: …" where asynchronous convergence is not certain; otherwise empty.
std::string warning_about_convergence(const JacobiSystem& system, const JacobiOptions& options);

}  // namespace weft::tools
