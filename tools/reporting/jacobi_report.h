#pragma once

#include <string>

#include "library/options/jacobi_settings.h"
#include "library/system/jacobi_system.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Results of one run, over all ranks (docs/reference/json.md, `jacobi`). Collective; complete on
/// rank 0.
Json collective_run_report(const Job& job, const library::JacobiSystem& system,
                           const library::JacobiSettings& options, const library::JacobiRun& run);

/// Description of the system. Complete on every rank.
Json system_report(const library::JacobiSystem& system);

/// The report of a run for people.
void print_run(const Json& run);

/// "warning: …" where asynchronous convergence is not certain; otherwise empty.
std::string warning_about_convergence(const library::JacobiSystem& system,
                                      const library::JacobiSettings& options);

}  // namespace weft::tools
