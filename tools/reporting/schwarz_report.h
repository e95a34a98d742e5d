#pragma once

#include "library/options/schwarz_settings.h"
#include "library/system/schwarz_system.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// Results of one run, over all ranks (docs/reference/json.md, `schwarz`). Collective; complete on
/// rank 0.
Json collective_schwarz_report(const Job& job, const library::SchwarzSystem& system,
                               const library::SchwarzSettings& options,
                               const library::SchwarzRun& run);

/// Description of the system. Complete on every rank.
Json schwarz_system_report(const library::SchwarzSystem& system,
                           const library::SchwarzSettings& options);

/// The report of a run for people.
void print_schwarz_run(const Json& run);

}  // namespace weft::tools
