#pragma once

#include <string>

#include "library/system/memory_forecast.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"

namespace weft::tools {

/// The forecast of rank 0, of its node, and what there is: `{rank_bytes, node_bytes,
/// available_bytes, limited_by, parts: {NAME: bytes}}`. Collective; complete on rank 0.
Json collective_memory_report(const Job& job, const library::MemoryForecast& forecast);

/// --dry-run: the report of a run of `command` that only says what memory it would take. Returns
/// the exit code. Collective.
int collective_show_forecast(const Job& job, const ReportFile& report_file,
                             const std::string& command, const std::string& problem,
                             const library::MemoryForecast& forecast);

}  // namespace weft::tools
