#include "tools/studies/alpha_study.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/measure/median_run.h"
#include "tools/reporting/schwarz_report.h"
#include "tools/system/schwarz_options.h"
#include "tools/system/schwarz_system.h"

namespace weft::tools {
namespace {

/// Default values to try, as multiples of the theoretical one.
constexpr std::array tried{0.25, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 2.0, 2.8, 4.0};

struct AlphaStudyOptions : SchwarzOptions {
  std::vector<double> values;
  int repetitions = 1;
};

void check(const CLI::App& command, const AlphaStudyOptions& options) {
  options.check(command);
  for (const double value : options.values)
    if (!(value > 0) || std::isinf(value))
      throw comm_thread::InputError(
          fmt::format("--values: found {}; expected numbers above 0", value));
  if (options.values.empty() && (options.tiles_per_side == 1 || options.overlap == 0))
    throw comm_thread::InputError(
        "study alpha: found one subdomain, or no overlap, for which theory gives no alpha; "
        "expected "
        "--values");
}

std::vector<double> values_of(const AlphaStudyOptions& options, double by_theory) {
  if (!options.values.empty()) return options.values;
  std::vector<double> values;
  for (const double part : tried) values.push_back(part * by_theory);
  return values;
}

void print_alpha_study(const Json& report) {
  const Json& study = report["study"];
  fmt::print("problem      {}: {} rows\n", report["problem"]["name"].get<std::string>(),
             report["problem"]["rows"].get<std::int64_t>());
  fmt::print("run          {}, {}, medians of {}; alpha by theory {}\n\n",
             study["variant"].get<std::string>(), ranks_and_threads(report),
             study["repetitions"].get<int>(),
             study["by_theory"].is_number()
                 ? fmt::format("{:.5g}", study["by_theory"].get<double>())
                 : "inf");
  fmt::print("{:>12}{:>12}{:>17}{:>10}{:>10}{:>14}\n", "alpha", "seconds", "iterations min", "mean",
             "max", "residual");
  for (const Json& run : study["runs"]) {
    const Json& iterations = run["iterations"];
    fmt::print("{:>12.5g}{:>12.3f}{:>17}{:>10.1f}{:>10}{:>14.3e}{}\n", run["value"].get<double>(),
               run["seconds"].get<double>(), iterations["min"].get<std::int64_t>(),
               iterations["mean"].get<double>(), iterations["max"].get<std::int64_t>(),
               run["relative_residual"].get<double>(),
               run["status"] == "converged" ? "" : "  " + run["status"].get<std::string>());
  }
}

int study_alpha(const comm_thread::MpiSession& session, const AlphaStudyOptions& options) {
  const perfmodel::Stopwatch watch;
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  SchwarzSystem system(job, options);
  ProgressLine progress(job.is_root() && somebody_watches(), options.tolerance);
  std::vector<AlphaTrial> no_trials;
  const double by_theory = system.choose_alpha(options, progress, no_trials);
  Json runs = Json::array();
  for (const double value : values_of(options, by_theory)) {
    SchwarzOptions changed = static_cast<const SchwarzOptions&>(options);
    changed.alpha = fmt::format("{}", value);
    Json run = {{"value", value}};
    run.update(median_run(options.repetitions, [&] {
      return collective_schwarz_report(job, system, changed, system.run(changed, progress));
    }));
    runs.push_back(std::move(run));
  }
  progress.clear();

  Json report = collective_start_report(job, "study");
  report["problem"] = schwarz_system_report(system, options);
  report["method"] = "schwarz";
  report["seconds"] = {{"total", watch.seconds()}};
  Json& study = report["study"];
  study = {{"parameter", "alpha"}, {"variant", library::name(options.variant)}};
  study["repetitions"] = options.repetitions;
  if (std::isfinite(by_theory))
    study["by_theory"] = by_theory;
  else
    study["by_theory"] = "inf";
  study["runs"] = std::move(runs);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) print_alpha_study(report);
  return 0;
}

}  // namespace

void add_alpha_study(CLI::App& study, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<AlphaStudyOptions>();
  CLI::App& command = *study.add_subcommand(
      "alpha", "the condition between the subdomains of weft schwarz (ALPHA)");
  add_schwarz_options(command, *options);
  command
      .add_option("--values", options->values,
                  "values to try, separated by commas; default: from a quarter to four times\n"
                  "the theoretical value")
      ->delimiter(',')
      ->type_name("ALPHA,...");
  add_count(command, "--repetitions", options->repetitions, 1, 1000,
            "runs of each; the median is shown");
  add_job_options(command, *options);
  command.callback([options, &command, &session, &exit_code] {
    check(command, *options);
    exit_code = study_alpha(session, *options);
  });
}

}  // namespace weft::tools
