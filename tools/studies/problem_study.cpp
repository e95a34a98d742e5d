#include "tools/studies/problem_study.h"

#include <utility>

#include "perfmodel/stopwatch.h"

namespace weft::tools {

int collective_study_problems(const comm_thread::MpiSession& session,
                              const ProblemStudyOptions& options, const ProblemStudy& study) {
  const perfmodel::Stopwatch watch;
  std::vector<spmv::Problem> problems;
  for (const std::string& problem : options.problems)
    problems.push_back(spmv::Problem::parse(problem));
  Job job = collective_start_job(session, options);
  const ReportFile report_file(job, options.json_path);
  Json studies = Json::array();
  for (const spmv::Problem& problem : problems)
    studies.push_back(study.collective_study(job, problem));
  Json report = collective_start_report(job, "study");
  report.update(study.run);
  report["seconds"] = {{"total", watch.seconds()}};
  report["study"] = study.facts;
  report["study"]["repetitions"] = options.repetitions;
  report["study"]["problems"] = std::move(studies);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) study.print(report);
  return 0;
}

void add_solve_study_options(CLI::App& command, SolveStudyOptions& options,
                             const std::string& problems) {
  command.add_option("problems", options.problems, problems)->required()->type_name("PROBLEM...");
  command.add_option("--rhs", options.right_hand_side, "right-hand side, as in weft solve")
      ->type_name("RHS");
  command.add_option("--tolerance", options.tolerance, "when a solve ends")
      ->check(is_number(library::any_above_zero))
      ->capture_default_str();
  add_count(command, "--repetitions", options.repetitions, 1, 1000,
            "runs of each; medians are shown");
  show_in_help(command, library::OptionGroup::problem, {"problems", "--rhs"});
  show_in_help(command, library::OptionGroup::method, {"--tolerance"});
  show_in_help(command, library::OptionGroup::run, {"--repetitions"});
}

}  // namespace weft::tools
