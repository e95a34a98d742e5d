#pragma once

#include <string>

#include <fmt/format.h>

#include "comm_thread/mpi/mpi_session.h"
#include "perfmodel/stopwatch.h"
#include "solver/report/iteration_report.h"
#include "spmv/modes/mode.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/reporting/run_output.h"
#include "tools/system/checkpoint_options.h"
#include "tools/system/job_checkpoints.h"
#include "tools/system/memory_report.h"

namespace weft::tools {

inline void add_sweep_results(Json& report, const std::string& name,
                              const solver::IterationReport& run) {
  report["seconds"]["solve"] = report[name]["seconds"];
  report["status"] = report[name]["status"];
  report["iterations"] = run.iterations;
  report["relative_residual"] = run.relative_residual;
}

/// Runs a command that sweeps a system, and writes its report. Returns the exit code.
/// `forecast(job)`: of its memory. `make(job)`: a pointer to the system. `describe(system)`: what
/// is said to the user before it runs. `add_to(report, job, system, run)`: problem, method and what
/// the run has done, under the name of the command. `print(report)`: its summary. Collective.
template <class Options, class Forecast, class Make, class Describe, class AddTo, class Print>
int collective_sweep_command(const comm_thread::MpiSession& session, const std::string& name,
                             const Options& options, const Forecast& forecast, const Make& make,
                             const Describe& describe, const AddTo& add_to, const Print& print) {
  const perfmodel::Stopwatch watch;
  Job job = collective_start_job(session, options);
  RunOutput output(job, options);
  if (options.is_dry_run)
    return collective_show_forecast(job, output.file, name, options.what(), forecast(job));
  const auto system = make(job);
  if (job.is_root()) fmt::print(stderr, "{}", describe(*system));
  const double setup_seconds = watch.seconds();
  JobCheckpoints checkpoints(job, options.checkpoints);
  system->use(checkpoints.get());
  ProgressLine progress(job.is_root() && somebody_watches(), options.tolerance);
  output.timeline.collective_start();
  auto run = system->run(options, progress.on_check());
  progress.clear();
  checkpoints.finish(run.report.status, run.report.explanation);

  Json report = collective_start_report(job, name);
  add_to(report, job, *system, run);
  if (options.is_sync()) report["mode"] = spmv::name(options.mode);
  report["seconds"] = {{"total", watch.seconds()}, {"setup", setup_seconds}};
  add_sweep_results(report, name, run.report);
  collective_finish_run(job, output, system->forecast(), &checkpoints, run.report.seconds, report,
                        print);
  return checkpoints.exit_code(run.report.status);
}

}  // namespace weft::tools
