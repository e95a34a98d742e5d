#pragma once

#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/system/schwarz_options.h"
#include "tools/system/schwarz_system.h"

namespace weft::tools {

/// Results of one run, over all ranks (docs/reference/json.md, `schwarz`). Collective; complete on
/// rank 0.
Json collective_schwarz_report(const Job& job, const SchwarzSystem& system,
                               const SchwarzOptions& options, const SchwarzRun& run);

/// Description of the system. Complete on every rank.
Json schwarz_system_report(const SchwarzSystem& system, const SchwarzOptions& options);

/// The report of a run for people.
void print_schwarz_run(const Json& run);

}  // namespace weft::tools
