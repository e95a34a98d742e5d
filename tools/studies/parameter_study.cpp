#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/iteration_settings.h"
#include "library/system/jacobi_system.h"
#include "library/system/schwarz_system.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/progress_line.h"
#include "tools/reporting/jacobi_report.h"
#include "tools/reporting/schwarz_report.h"
#include "tools/studies/study.h"
#include "tools/system/jacobi_options.h"
#include "tools/system/program_system.h"
#include "tools/system/schwarz_options.h"

namespace weft::tools {
namespace {

using comm_thread::InputError;

/// Multiples of the theoretical alpha that are tried by default.
constexpr std::array tried{0.25, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 2.0, 2.8, 4.0};

struct AlphaStudyOptions : SchwarzOptions {
  std::vector<double> values;
  int repetitions = 1;
};

/// The options of a study of one parameter of Jacobi sweeps.
struct JacobiStudyOptions : JacobiOptions {
  std::string parameter;  // `in-flight` or `halo-period`
  std::vector<int> default_values;
  std::vector<int> values;
  int repetitions = 3;

  void set(int value) {
    if (parameter == "in-flight")
      max_in_flight = value;
    else
      halo_period = value;
  }
};

void check(const CLI::App& command, const AlphaStudyOptions& options) {
  options.check(command);
  for (const double value : options.values)
    if (!(value > 0) || std::isinf(value))
      throw InputError(fmt::format("--values: found {}; expected numbers above 0", value));
  if (options.values.empty() && (options.tiles_per_side == 1 || options.overlap == 0))
    throw InputError(
        "study alpha: found one subdomain, or no overlap, for which theory gives no alpha; "
        "expected "
        "--values");
}

void check(const CLI::App& command, const JacobiStudyOptions& options) {
  options.check(command);
  if (options.is_threaded)
    throw InputError(
        "study: found --transport openmp, which sends no messages; "
        "expected another transport");
  if (options.parameter == "in-flight" && options.is_sync())
    throw InputError(
        "study in-flight: found --variant sync, whose messages are waited for; expected async or "
        "racy");
  check_needs(command,
              {{{options.parameter}, false, "with study " + options.parameter, "--values"}});
  const int most = options.parameter == "in-flight" ? 512 : 1'000'000;
  for (const int value : options.values)
    if (value < 1 || value > most)
      throw InputError(
          fmt::format("--values: found {}; expected numbers from 1 to {}", value, most));
}

/// Calls `run` so often and returns the report whose `seconds` are the median: the same run on
/// every rank.
template <class Run>
Json median_run(int repetitions, const Run& run) {
  std::vector<Json> runs;
  for (int repetition = 0; repetition < repetitions; ++repetition) runs.push_back(run());
  std::ranges::sort(runs, [](const Json& a, const Json& b) { return a["seconds"] < b["seconds"]; });
  return runs[runs.size() / 2];
}

/// The median of the runs with each value: report(value, progress).
template <class Value, class Options, class Report>
Json collective_vary(const Job& job, const Options& options, const std::vector<Value>& values,
                     const Report& report) {
  ProgressLine progress(job.is_root() && somebody_watches(), options.tolerance);
  Json runs = Json::array();
  for (const Value value : values) {
    Json run = {{"value", value}};
    run.update(median_run(options.repetitions, [&] { return report(value, progress); }));
    runs.push_back(std::move(run));
  }
  progress.clear();
  return runs;
}

void print_run(const Json& report, const std::string& more) {
  const Json& study = report["study"];
  print_studied(report);
  fmt::print("run          {}, {}, medians of {}{}\n\n", study["variant"],
             ranks_and_threads(report), study["repetitions"], more);
}

void print_alpha_study(const Json& report) {
  const Json& by_theory = report["study"]["by_theory"];
  print_run(report, "; alpha by theory " +
                        (by_theory.is_number() ? fmt::format("{:.5g}", by_theory) : "inf"));
  print_table(
      {column("alpha", 12, "/value", "{:.5g}"), column("seconds", 12, "/seconds", "{:.3f}"),
       column("iterations min", 17, "/iterations/min"),
       column("mean", 10, "/iterations/mean", "{:.1f}"), column("max", 10, "/iterations/max"),
       column("residual", 14, "/relative_residual", "{:.3e}")},
      report["study"]["runs"]);
}

void print_jacobi_study(const Json& report) {
  Json runs = report["study"]["runs"];
  for (Json& run : runs)
    if (!run.contains("asynchrony")) run["asynchrony"] = {{"skipped", 0}};
  print_run(report, "");
  print_table(
      {column(report["study"]["parameter"].get<std::string>(), 12, "/value"),
       column("seconds", 12, "/seconds", "{:.3f}"), column("sweeps min", 12, "/iterations/min"),
       column("mean", 12, "/iterations/mean", "{:.1f}"), column("max", 12, "/iterations/max"),
       ratio_column("us per sweep", 14, "/seconds", "/iterations/mean", "{:.2f}", 1e6),
       column("left out", 12, "/asynchrony/skipped")},
      runs);
}

StudyResult collective_study(Job& job, const AlphaStudyOptions& options) {
  library::SchwarzSystem system(job, options);
  std::vector<library::AlphaTrial> no_trials;
  ProgressLine choice(job.is_root() && somebody_watches(), options.tolerance);
  const double by_theory = system.choose_alpha(options, choice.on_check(), no_trials);
  std::vector<double> values = options.values;
  if (values.empty())
    for (const double part : tried) values.push_back(part * by_theory);
  Json runs = collective_vary(job, options, values, [&](double value, ProgressLine& progress) {
    SchwarzOptions changed = options;
    changed.alpha = fmt::format("{}", value);
    return collective_schwarz_report(job, system, changed,
                                     system.run(changed, progress.on_check()));
  });
  return {{{"problem", schwarz_system_report(system, options)}, {"method", "schwarz"}},
          {{"parameter", "alpha"},
           {"variant", library::name(options.variant)},
           {"repetitions", options.repetitions},
           {"by_theory", std::isfinite(by_theory) ? Json(by_theory) : Json("inf")},
           {"runs", std::move(runs)}}};
}

StudyResult collective_study(Job& job, const JacobiStudyOptions& options) {
  library::JacobiSystem system(job, options.problem, options, printing_remarks(job));
  if (job.is_root()) fmt::print(stderr, "{}", warning_about_convergence(system, options));
  Json runs = collective_vary(job, options,
                              options.values.empty() ? options.default_values : options.values,
                              [&](int value, ProgressLine& progress) {
                                JacobiStudyOptions changed = options;
                                if (!changed.halo_period)
                                  changed.halo_period = 1;  // the same in all runs
                                changed.set(value);
                                return collective_run_report(
                                    job, system, changed, system.run(changed, progress.on_check()));
                              });
  return {{{"problem", system_report(system)}, {"method", options.method()}},
          {{"parameter", options.parameter},
           {"variant", library::name(options.variant)},
           {"repetitions", options.repetitions},
           {"runs", std::move(runs)}}};
}

template <class Options>
int study_parameter(const comm_thread::MpiSession& session, const CLI::App& command,
                    const Options& options, void (*print)(const Json& report)) {
  check(command, options);
  return collective_run_study(
      session, options, [&](Job& job) { return collective_study(job, options); }, print);
}

int study(const comm_thread::MpiSession& session, const CLI::App& command,
          const AlphaStudyOptions& options) {
  return study_parameter(session, command, options, print_alpha_study);
}

int study(const comm_thread::MpiSession& session, const CLI::App& command,
          const JacobiStudyOptions& options) {
  return study_parameter(session, command, options, print_jacobi_study);
}

void add_options(CLI::App& command, AlphaStudyOptions& options) {
  add_schwarz_options(command, options);
  add_list(command, "--values", options.values,
           "values to try, separated by commas; default: from a quarter to four times\n"
           "the theoretical value",
           "ALPHA,...");
  add_repetitions(command, options.repetitions);
  add_job_options(command, options);
}

void add_options(CLI::App& command, JacobiStudyOptions& options) {
  add_jacobi_options(command, options);
  add_list(command, "--values", options.values, "values to try, separated by commas", "COUNT,...");
  add_repetitions(command, options.repetitions);
  add_job_options(command, options);
}

JacobiStudyOptions study_of(const std::string& parameter, std::vector<int> values) {
  JacobiStudyOptions options;
  options.parameter = parameter;
  options.default_values = std::move(values);
  return options;
}

}  // namespace

void add_parameter_studies(const StudyProgram& program) {
  program.add<AlphaStudyOptions>("alpha",
                                 "the condition between the subdomains of weft schwarz (ALPHA)");
  program.add("in-flight", "largest number of messages in flight to a neighbour (R)",
              study_of("in-flight", {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}));
  program.add("halo-period", "number of sweeps between two halo exchanges (N)",
              study_of("halo-period", {1, 2, 4, 8, 16, 32, 64, 128}));
}

}  // namespace weft::tools
