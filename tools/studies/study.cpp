#include "tools/studies/study.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "library/options/option_values.h"
#include "perfmodel/stopwatch.h"
#include "tools/job/option_binding.h"

namespace weft::tools {

void print_studied(const Json& report) {
  if (report["problem"].is_object())
    fmt::print("problem      {}: {} rows\n", report["problem"]["name"], report["problem"]["rows"]);
  if (const Json& study = report["study"]; study.contains("machine"))
    fmt::print("machine      {}: {}\n", study["machine"]["name"], study["machine"]["source"]);
}

void print_problem_tables(const Json& report, bool tells_operator,
                          const std::vector<TableColumn>& columns) {
  const Json& study = report["study"];
  fmt::print("run          {}, tolerance {:g}, medians of {} runs\n", ranks_and_threads(report),
             study["tolerance"], study["repetitions"]);
  for (const Json& each : study["problems"]) {
    fmt::print("\n{}: {} rows{}\n", each["problem"], each["rows"],
               tells_operator ? ", " + each["operator"].get<std::string>() : "");
    print_table(columns, each["runs"]);
  }
}

int collective_run_study(const comm_thread::MpiSession& session, const SystemOptions& options,
                         const std::function<StudyResult(Job& job)>& collective_study,
                         void (*print)(const Json& report)) {
  const perfmodel::Stopwatch watch;
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  StudyResult result = collective_study(job);
  Json report = collective_start_report(job, "study");
  report.update(result.fields);
  report["seconds"] = {{"total", watch.seconds()}};
  report["study"] = std::move(result.study);
  if (report_file.collective_write(report)) print(report);
  return EXIT_SUCCESS;
}

int collective_study_problems(
    const comm_thread::MpiSession& session, const ProblemStudyOptions& options, StudyResult found,
    const std::function<Json(Job& job, const spmv::Problem& problem)>& collective_study,
    void (*print)(const Json& report)) {
  std::vector<spmv::Problem> problems;
  for (const std::string& problem : options.problems)
    problems.push_back(spmv::Problem::parse(problem));
  return collective_run_study(
      session, options,
      [&](Job& job) {
        found.study["repetitions"] = options.repetitions;
        Json& studies = found.study["problems"] = Json::array();
        for (const spmv::Problem& problem : problems)
          studies.push_back(collective_study(job, problem));
        return found;
      },
      print);
}

std::vector<Json> combinations(const std::vector<std::pair<std::string, Json>>& fields) {
  std::vector<Json> all{Json::object()};
  for (const auto& [name, values] : fields) {
    std::vector<Json> longer;
    for (const Json& each : all)
      for (const Json& value : values) {
        longer.push_back(each);
        longer.back()[name] = value;
      }
    all = std::move(longer);
  }
  return all;
}

void add_repetitions(CLI::App& command, int& repetitions) {
  add_count(command, "--repetitions", repetitions, 1, 1000, "runs of each; the median is shown");
  show_in_help(command, library::OptionGroup::run, {"--repetitions"});
}

void add_solve_study_options(CLI::App& command, SolveStudyOptions& options,
                             const std::string& problems) {
  command.add_option("problems", options.problems, problems)->required()->type_name("PROBLEM...");
  command.add_option("--rhs", options.right_hand_side, "right-hand side, as in weft solve")
      ->type_name("RHS");
  command.add_option("--tolerance", options.tolerance, "when a solve ends")
      ->check(is_number(library::any_above_zero))
      ->capture_default_str();
  add_repetitions(command, options.repetitions);
  show_in_help(command, library::OptionGroup::problem, {"problems", "--rhs"});
  show_in_help(command, library::OptionGroup::method, {"--tolerance"});
}

}  // namespace weft::tools
