#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"
#include "library/options/matrix_settings.h"
#include "spmv/problems/problem.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/system/solve_system.h"

namespace weft::tools {

/// The options of a study of one problem after the other.
struct ProblemStudyOptions : SystemOptions, library::MatrixSettings {
  ProblemStudyOptions() { order.clear(); }

  std::vector<std::string> problems;
  int repetitions = 3;
};

/// The options of one whose runs solve to a tolerance.
struct SolveStudyOptions : ProblemStudyOptions {
  std::string right_hand_side;
  double tolerance = 1e-8;
};

/// What a study does with each problem, and what its report says.
struct ProblemStudy {
  std::function<Json(Job& job, const spmv::Problem& problem)> collective_study;
  Json facts;  // fields of `study` in the report, besides the problems
  Json run;  // fields of the report itself, such as `mode`
  void (*print)(const Json& report);
};

/// Studies one problem after the other, writes the report, and prints it on rank 0. Collective.
/// Throws comm_thread::InputError. Returns the exit code.
int collective_study_problems(const comm_thread::MpiSession& session,
                              const ProblemStudyOptions& options, const ProblemStudy& study);

/// Runs all entrants once uncounted and `repetitions` times counted, in turn, so that what disturbs
/// the machine disturbs all; returns their reports, complete on rank 0. Collective.
template <class Entrant>
Json collective_run_in_turn(Job& job, SolveSystem& system,
                            const std::vector<std::unique_ptr<Entrant>>& entrants,
                            int repetitions) {
  for (int i = -1; i < repetitions; ++i)
    for (const auto& entrant : entrants) entrant->collective_run(job, system.b(), i >= 0);
  Json runs = Json::array();
  for (const auto& entrant : entrants)
    runs.push_back(entrant->collective_report(job, system.op().comm_thread()));
  return runs;
}

/// Adds an option that takes values separated by commas. `type`: as --help shows it.
template <class Value>
void add_list(CLI::App& command, const std::string& name, std::vector<Value>& values,
              const std::string& help, const std::string& type) {
  command.add_option(name, values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name(type)
      ->capture_default_str();
}

/// Adds the problems, --rhs, --tolerance and --repetitions. `problems`: what they are.
void add_solve_study_options(CLI::App& command, SolveStudyOptions& options,
                             const std::string& problems);

}  // namespace weft::tools
