#include "tools/studies/study_command.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/measure/median_run.h"
#include "tools/reporting/jacobi_report.h"
#include "tools/studies/alpha_study.h"
#include "tools/studies/amg_study.h"
#include "tools/studies/cg_scale_study.h"
#include "tools/studies/cg_study.h"
#include "tools/studies/multigrid_study.h"
#include "tools/studies/scale_study.h"
#include "tools/studies/schwarz_scale_study.h"
#include "tools/system/jacobi_options.h"
#include "tools/system/jacobi_system.h"

namespace weft::tools {
namespace {

/// Parameter that changes from run to run.
struct Parameter {
  std::string name;
  std::string description;
  std::vector<int> values;
  std::function<void(JacobiOptions&, int)> set;
};

struct JacobiStudyOptions : JacobiOptions {
  std::vector<int> values;
  int repetitions = 3;
};

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> known{
      {"in-flight",
       "largest number of messages in flight to a neighbour (R)",
       {1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
       [](JacobiOptions& options, int value) { options.max_in_flight = value; }},
      {"halo-period",
       "number of sweeps between two halo exchanges (N)",
       {1, 2, 4, 8, 16, 32, 64, 128},
       [](JacobiOptions& options, int value) { options.halo_period = value; }}};
  return known;
}

void check(const CLI::App& command, const JacobiStudyOptions& options, const Parameter& parameter) {
  options.check(command);
  if (options.is_threaded)
    throw comm_thread::InputError(
        "study: found --transport openmp, which sends no messages; "
        "expected another transport");
  if (parameter.name == "in-flight" && options.is_sync())
    throw comm_thread::InputError(
        "study in-flight: found --variant sync, whose messages are waited for; expected async or "
        "racy");
  if (is_changed(command, "--" + parameter.name))
    throw comm_thread::InputError(
        fmt::format("--{0}: found with study {0}; expected --values", parameter.name));
  const int most = parameter.name == "in-flight" ? 512 : 1'000'000;
  for (const int value : options.values)
    if (value < 1 || value > most)
      throw comm_thread::InputError(
          fmt::format("--values: found {}; expected numbers from 1 to {}", value, most));
}

void print_jacobi_study(const Json& report) {
  const Json& study = report["study"];
  fmt::print("problem      {}: {} rows\n", report["problem"]["name"].get<std::string>(),
             report["problem"]["rows"].get<std::int64_t>());
  fmt::print("run          {}, {}, medians of {}\n\n", study["variant"].get<std::string>(),
             ranks_and_threads(report), study["repetitions"].get<int>());
  fmt::print("{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}\n", study["parameter"].get<std::string>(),
             "seconds", "sweeps min", "mean", "max", "us per sweep", "left out");
  for (const Json& run : study["runs"]) {
    const Json& iterations = run["iterations"];
    const double seconds = run["seconds"].get<double>();
    const std::int64_t skipped =
        run.contains("asynchrony") ? run["asynchrony"]["skipped"].get<std::int64_t>() : 0;
    fmt::print("{:>12}{:>12.3f}{:>12}{:>12.1f}{:>12}{:>14.2f}{:>12}{}\n", run["value"].get<int>(),
               seconds, iterations["min"].get<std::int64_t>(), iterations["mean"].get<double>(),
               iterations["max"].get<std::int64_t>(),
               1e6 * seconds / std::max(1.0, iterations["mean"].get<double>()), skipped,
               run["status"] == "converged" ? "" : "  " + run["status"].get<std::string>());
  }
}

int study(const comm_thread::MpiSession& session, const JacobiStudyOptions& options,
          const Parameter& parameter) {
  const perfmodel::Stopwatch watch;
  const std::vector<int>& values = options.values.empty() ? parameter.values : options.values;
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  JacobiSystem system(job, options);
  if (job.is_root()) fmt::print(stderr, "{}", warning_about_convergence(system, options));
  ProgressLine progress(job.is_root() && somebody_watches(), options.tolerance);
  Json runs = Json::array();
  for (const int value : values) {
    JacobiStudyOptions changed = options;
    if (!changed.halo_period) changed.halo_period = 1;  // the same in all runs
    parameter.set(changed, value);
    Json run = {{"value", value}};
    run.update(median_run(options.repetitions, [&] {
      return collective_run_report(job, system, changed, system.run(changed, progress));
    }));
    runs.push_back(std::move(run));
  }
  progress.clear();

  Json report = collective_start_report(job, "study");
  report["problem"] = system_report(system);
  report["method"] = options.method();
  report["seconds"] = {{"total", watch.seconds()}};
  report["study"] = {{"parameter", parameter.name},
                     {"variant", library::name(options.variant)},
                     {"repetitions", options.repetitions},
                     {"runs", std::move(runs)}};
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) print_jacobi_study(report);
  return 0;
}

}  // namespace

void add_study_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("study", "repeat a solve with different values of one parameter");
  command.require_subcommand(1);
  command.footer(
      "Examples:\n"
      "  mpiexec.mpich -n 2 weft study in-flight --grid 50x50x100 --variant racy\n"
      "  mpiexec.mpich -n 4 weft study halo-period --grid 100 --variant async --values 1,8,64\n"
      "  weft study alpha --subdomains 12 --points 64\n"
      "  mpiexec.mpich -n 2 weft study cg poisson3d:100\n"
      "  weft study multigrid poisson3d:100\n"
      "  weft study amg poisson3d:64\n"
      "  weft study scale --simulated-ranks 32,512\n"
      "  weft study scale-cg --nodes 8,96\n"
      "tools/run study ... --plot FILE.svg draws the report.");
  add_alpha_study(command, session, exit_code);
  add_amg_study(command, session, exit_code);
  add_cg_study(command, session, exit_code);
  add_multigrid_study(command, session, exit_code);
  add_scale_study(command, session, exit_code);
  add_cg_scale_study(command, session, exit_code);
  add_schwarz_scale_study(command, session, exit_code);
  for (const Parameter& parameter : parameters()) {
    const auto options = std::make_shared<JacobiStudyOptions>();
    CLI::App& one = *command.add_subcommand(parameter.name, parameter.description);
    add_jacobi_options(one, *options);
    one.add_option("--values", options->values, "values to try, separated by commas")
        ->delimiter(',')
        ->type_name("COUNT,...");
    add_count(one, "--repetitions", options->repetitions, 1, 1000,
              "runs of each; the median is shown");
    add_job_options(one, *options);
    show_in_help(one, library::OptionGroup::run, {"--values", "--repetitions"});
    one.callback([options, &one, &parameter, &session, &exit_code] {
      check(one, *options, parameter);
      exit_code = study(session, *options, parameter);
    });
  }
}

}  // namespace weft::tools
