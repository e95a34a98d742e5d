#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "comm_thread/mpi/mpi_session.h"
#include "library/options/matrix_settings.h"
#include "library/settings/right_hand_side_choice.h"
#include "library/system/linear_system.h"
#include "spmv/problems/problem.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/report_table.h"

namespace weft::tools {

/// "problem", "machine": the first lines of what a study prints, if its report has them.
void print_studied(const Json& report);
/// The name of each problem of a study, and its table. `tells_operator`: what multiplies, too.
void print_problem_tables(const Json& report, bool tells_operator,
                          const std::vector<TableColumn>& columns);

/// The command `weft study`, to which each study adds itself, and what it runs with.
struct StudyProgram {
  CLI::App& command;
  const comm_thread::MpiSession& session;
  int& exit_code;

  /// Adds the study `name`. The type of its options says what `add_options(command, options)` is
  /// and, collectively, `study(session, command, options)`, which returns the exit code.
  template <class Options>
  void add(const std::string& name, const std::string& description, Options initial = {}) const {
    const auto options = std::make_shared<Options>(std::move(initial));
    CLI::App& one = *command.add_subcommand(name, description);
    add_options(one, *options);
    one.callback([options, &one, &its_session = session, &code = exit_code] {
      code = study(its_session, one, *options);
    });
  }
};

/// What a study has found: the fields of its report, and of `study` in it.
struct StudyResult {
  Json fields;
  Json study;
};

/// Runs a study, writes its report, and prints it on rank 0. Collective.
/// Throws comm_thread::InputError. Returns the exit code.
int collective_run_study(const comm_thread::MpiSession& session, const SystemOptions& options,
                         const std::function<StudyResult(Job& job)>& collective_study,
                         void (*print)(const Json& report));

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

/// Studies one problem after the other: `collective_study` returns what belongs to each. `found`:
/// what else the report says.
int collective_study_problems(
    const comm_thread::MpiSession& session, const ProblemStudyOptions& options, StudyResult found,
    const std::function<Json(Job& job, const spmv::Problem& problem)>& collective_study,
    void (*print)(const Json& report));

/// Every combination of one value of each field: objects with these fields. The last one changes
/// most often.
std::vector<Json> combinations(const std::vector<std::pair<std::string, Json>>& fields);

/// Runs an entrant for each variant, once uncounted and then counted, in turn, so that what
/// disturbs the machine disturbs all; returns their reports, complete on rank 0. Collective.
template <class Entrant, class Options>
Json collective_run_in_turn(Job& job, library::LinearSystem& system, const Options& options,
                            const spmv::Problem& problem, std::vector<Json> variants) {
  const auto b = system.collective_right_hand_sides(
      library::choose_right_hand_side(options.right_hand_side, problem));
  std::vector<std::unique_ptr<Entrant>> entrants;
  for (Json& variant : variants)
    entrants.push_back(
        std::make_unique<Entrant>(job, system, options, problem, std::move(variant)));
  for (int i = -1; i < options.repetitions; ++i)
    for (const auto& entrant : entrants) entrant->collective_run(job, b.front().span(), i >= 0);
  Json runs = Json::array();
  for (const auto& entrant : entrants)
    runs.push_back(entrant->collective_report(job, job.comm_thread()));
  return runs;
}

/// Adds an option that takes values separated by commas, and no problem that follows them. `type`:
/// as --help shows it.
template <class Value>
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<Value>& values,
                      const std::string& help, const std::string& type) {
  CLI::Option* const option = command.add_option(name, values, help);
  if (!values.empty()) option->capture_default_str();
  return option->delimiter(',')
      ->allow_extra_args(!command.get_option_no_throw("problems"))
      ->type_name(type);
}

/// --repetitions.
void add_repetitions(CLI::App& command, int& repetitions);
/// Adds the problems, --rhs, --tolerance and --repetitions. `problems`: what they are.
void add_solve_study_options(CLI::App& command, SolveStudyOptions& options,
                             const std::string& problems);

// The studies. Those of one parameter: alpha, in-flight and halo-period.
void add_parameter_studies(const StudyProgram& program);
void add_amg_study(const StudyProgram& program);
void add_cg_study(const StudyProgram& program);
void add_multigrid_study(const StudyProgram& program);
/// Adds the studies of simulated machines, beside published values: Jacobi sweeps, conjugate
/// gradients and optimized Schwarz.
void add_scale_study(const StudyProgram& program);
void add_cg_scale_study(const StudyProgram& program);
void add_schwarz_scale_study(const StudyProgram& program);

}  // namespace weft::tools
