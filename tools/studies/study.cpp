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
namespace {

std::string shown(const Json& value, const char* format, double factor) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() && factor == 1)
    return fmt::format(fmt::runtime(format), value.get<std::int64_t>());
  return fmt::format(fmt::runtime(format), factor * value.get<double>());
}

std::string padded(const std::string& text, int width) {
  return width < 0 ? fmt::format("{:<{}}", text, -width) : fmt::format("{:>{}}", text, width);
}

void print_line(const std::string& line, const std::string& end) {
  fmt::print("{}{}\n", line.substr(0, line.find_last_not_of(' ') + 1), end);
}

}  // namespace

StudyColumn column(std::string title, int width, const char* path, const char* format,
                   double factor) {
  return {std::move(title), width, [=, place = Json::json_pointer(path)](const Json& run) {
            return run.contains(place) ? shown(run[place], format, factor) : "";
          }};
}

StudyColumn ratio_column(std::string title, int width, const char* path, const char* divisor,
                         const char* format, double factor) {
  return {std::move(title), width,
          [=, place = Json::json_pointer(path),
           below = Json::json_pointer(divisor)](const Json& run) -> std::string {
            if (!run.contains(place)) return "";
            const double divided_by = std::max(1.0, run[below].get<double>());
            return shown(factor * run[place].get<double>() / divided_by, format, 1);
          }};
}

StudyColumn range_column(std::string title, int width, const char* least, const char* most,
                         const char* format) {
  return {std::move(title), width,
          [from = column("", 0, least, format), to = column("", 0, most, format)](const Json& run) {
            const std::string begin = from.cell(run);
            return begin.empty() ? begin : begin + "-" + to.cell(run);
          }};
}

StudyColumn line_column() {
  return {" |", 2, [](const Json&) { return " |"; }};
}

void print_table(const std::vector<StudyColumn>& columns, const Json& runs) {
  std::string titles;
  for (const StudyColumn& each : columns) titles += padded(each.title, each.width);
  print_line(titles, "");
  for (const Json& run : runs) {
    std::string line;
    for (const StudyColumn& each : columns) line += padded(each.cell(run), each.width);
    const std::string status = run.value("status", "converged");
    print_line(line, status == "converged" ? "" : "  " + status);
  }
}

void print_studied(const Json& report) {
  if (report["problem"].is_object())
    fmt::print("problem      {}: {} rows\n", report["problem"]["name"].get<std::string>(),
               report["problem"]["rows"].get<std::int64_t>());
  if (const Json& study = report["study"]; study.contains("machine"))
    fmt::print("machine      {}: {}\n", study["machine"]["name"].get<std::string>(),
               study["machine"]["source"].get<std::string>());
}

void print_problem_tables(const Json& report, bool tells_operator,
                          const std::vector<StudyColumn>& columns) {
  const Json& study = report["study"];
  fmt::print("run          {}, tolerance {:g}, medians of {} runs\n", ranks_and_threads(report),
             study["tolerance"].get<double>(), study["repetitions"].get<int>());
  for (const Json& each : study["problems"]) {
    fmt::print("\n{}: {} rows{}\n", each["problem"].get<std::string>(),
               each["rows"].get<std::int64_t>(),
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
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) print(report);
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
