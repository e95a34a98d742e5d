#pragma once

#include <string>

#include <fmt/format.h>

#include "comm_thread/mpi/mpi_session.h"
#include "perfmodel/stopwatch.h"
#include "solver/report/iteration_report.h"
#include "spmv/modes/mode.h"
#include "tools/job/counters.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/job/timeline.h"
#include "tools/reporting/checkpoint_report.h"
#include "tools/system/checkpoint_options.h"
#include "tools/system/job_checkpoints.h"
#include "tools/system/sweep_forecast.h"

namespace weft::tools {

inline void add_sweep_results(Json& report, const std::string& name,
                              const solver::IterationReport& run) {
  report["seconds"]["solve"] = report[name]["seconds"];
  report["status"] = report[name]["status"];
  report["iterations"] = run.iterations;
  report["relative_residual"] = run.relative_residual;
}

/// Runs a command that sweeps a `System`, and writes its report. Returns the exit code.
/// `forecast(job, options)`: of its memory. `describe(job, system)`: what is said to the user
/// before it runs. `add_to(report, job, system, run)`: problem, method and what the run has done,
/// under the name of the command. `print(report)`: its summary. Collective.
template <class System, class Options, class Forecast, class Describe, class AddTo, class Print>
int collective_sweep_command(const comm_thread::MpiSession& session, const std::string& name,
                             const Options& options, const Forecast& forecast,
                             const Describe& describe, const AddTo& add_to, const Print& print) {
  const perfmodel::Stopwatch watch;
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  Timeline timeline(job, options.trace_path);
  const Counters counters(job);
  if (options.is_dry_run)
    return collective_show_forecast(job, report_file, name, options.what(), forecast(job, options));
  System system(job, options);
  if (job.is_root()) fmt::print(stderr, "{}", describe(system));
  const double setup_seconds = watch.seconds();
  JobCheckpoints checkpoints(job, options.checkpoints);
  system.use(checkpoints.get());
  ProgressLine progress(job.is_root() && somebody_watches(), options.tolerance);
  timeline.collective_start();
  auto run = system.run(options, progress);
  progress.clear();
  checkpoints.finish(run.report.status, run.report.explanation);

  Json report = collective_start_report(job, name);
  add_to(report, job, system, run);
  if (options.is_sync()) report["mode"] = spmv::name(options.mode);
  report["seconds"] = {{"total", watch.seconds()}, {"setup", setup_seconds}};
  add_sweep_results(report, name, run.report);
  if (checkpoints.get())
    report["checkpoints"] =
        collective_checkpoint_report(job, options.checkpoints.path, checkpoints.get()->report());
  report["memory"]["forecast"] = collective_memory_report(job, system.forecast());
  timeline.collective_write(report);
  collective_report_phases(job, counters, report);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) {
    print(report);
    if (checkpoints.get()) print_checkpoints(report["checkpoints"], run.report.seconds);
    print_trace(report);
  }
  return checkpoints.exit_code(run.report.status);
}

}  // namespace weft::tools
