#pragma once

#include <functional>

#include "library/system/memory_forecast.h"
#include "tools/job/counters.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/job/timeline.h"
#include "tools/system/job_checkpoints.h"

namespace weft::tools {

/// Where the report of a command goes, and what is recorded for it while the command runs.
struct RunOutput {
  /// Collective. Throws comm_thread::InputError. Lifetime: `job` outlives it.
  RunOutput(Job& job, const SystemOptions& options)
      : file(job, options.json_path), timeline(job, options.trace_path), counters(job) {}

  ReportFile file;
  Timeline timeline;
  Counters counters;
};

/// Enters in `report` what was recorded, the forecast of memory and what became of the checkpoints
/// (null: the command has none), writes it, and shows it by `print` where standard output is for
/// people. `solve_seconds`: what times of checkpoints are a share of. Collective.
void collective_finish_run(const Job& job, RunOutput& output,
                           const library::MemoryForecast& forecast,
                           const JobCheckpoints* checkpoints, double solve_seconds, Json& report,
                           const std::function<void(const Json& report)>& print);

}  // namespace weft::tools
