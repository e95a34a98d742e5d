#include "tools/studies/multigrid_study.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/settings/multigrid_word.h"
#include "library/settings/right_hand_side_choice.h"
#include "perfmodel/stopwatch.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/methods/method_table.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tools/job/job.h"
#include "tools/job/report.h"
#include "tools/job/statistics.h"
#include "tools/job/system_options.h"
#include "tools/reporting/multigrid_report.h"
#include "tools/system/linear_system.h"
#include "tools/system/solve_system.h"

namespace weft::tools {
namespace {

struct StudyOptions : SystemOptions {
  std::vector<std::string> problems;
  std::vector<std::string> methods{"multigrid", "cg"};
  std::vector<int> steps{1, 2, 3, 4};
  std::string settings;  // of multigrid
  std::string mode = "task";
  std::string right_hand_side;
  double tolerance = 1e-8;
  int repetitions = 3;

  /// Throws comm_thread::InputError where options contradict each other.
  void check() const {
    if (settings.find("steps=") != std::string::npos)
      throw comm_thread::InputError("--multigrid: found steps; expected them in --steps");
    for (const int count : steps)
      if (count < 1 || count > solver::MultigridSettings::most_steps)
        throw comm_thread::InputError(
            fmt::format("--steps: found {}; expected numbers from 1 to {}", count,
                        solver::MultigridSettings::most_steps));
  }
};

/// Residual norms of one solve, by the primary thread of a rank.
struct History {
  double seconds = 0;  // of the solve
  std::vector<std::pair<double, double>> points;  // seconds, ‖r‖/‖b‖; one a cycle, from the first
};

/// One method with one number of steps.
class Entrant {
 public:
  /// Collective.
  Entrant(SolveSystem& system, const StudyOptions& options, const std::string& method,
          const solver::MultigridSettings& settings)
      : name_(method), steps_(settings.steps) {
    const spmv::Mode mode = *spmv::parse_mode(options.mode);
    if (method == "cg")
      cycle_ = std::make_unique<solver::MultigridPreconditioner>(
          dynamic_cast<spmv::StencilOperator&>(system.op()),
          solver::GridCycle::Options{
              .steps = settings.steps, .least_points = settings.least_points, .mode = mode});
    solver_ = solver::find_krylov_method(method)->collective_make(
        system.op(), {.mode = mode,
                      .preconditioner = cycle_.get(),
                      .stop = {.tolerance = options.tolerance, .max_iterations = most_cycles},
                      .multigrid = settings,
                      .on_iteration = [this](std::int64_t, double residual) {
                        now_.points.emplace_back(watch_.seconds(), residual);
                      }});
    grids_ = std::make_unique<MultigridGrids>(*solver_, cycle_.get());
  }

  /// Collective.
  void collective_run(const Job& job, std::span<const double> b, bool is_counted) {
    now_ = {.points = {{0, 1}}};
    now_.points.reserve(most_cycles + 1);
    watch_ = {};
    last_ = solver_->solve(b);
    now_.seconds = job.world().max(last_.solve_seconds);
    if (is_counted)
      runs_.push_back(now_);
    else
      grids_->forget_times();
  }

  /// Collective; complete on rank 0.
  Json collective_report(const Job& job, comm_thread::CommThread& comm_thread) {
    std::ranges::sort(runs_, {}, &History::seconds);
    const History& usual = runs_[runs_.size() / 2];
    std::vector<double> seconds;
    for (const History& run : runs_) seconds.push_back(run.seconds);
    const auto cycles = static_cast<double>(std::max<std::int64_t>(last_.iterations, 1));
    Json history = Json::array();
    for (const auto& [time, residual] : usual.points) history.push_back({time, residual});
    return {{"method", name_},
            {"steps", steps_},
            {"status", solver::name(last_.status)},
            {"iterations", last_.iterations},
            {"relative_residual", last_.relative_residual},
            {"seconds", usual.seconds},
            {"spread", summarise(seconds).spread},
            {"seconds_per_cycle", usual.seconds / cycles},
            {"residual_per_cycle", std::pow(last_.relative_residual, 1 / cycles)},
            {"digits_per_second", -std::log10(last_.relative_residual) / usual.seconds},
            {"history", std::move(history)},
            {"multigrid", grids_->collective_report(job, comm_thread)}};
  }

 private:
  static constexpr std::int64_t most_cycles = 200;

  std::string name_;
  int steps_;
  std::unique_ptr<solver::MultigridPreconditioner> cycle_;
  std::unique_ptr<solver::KrylovMethod> solver_;
  std::unique_ptr<MultigridGrids> grids_;
  perfmodel::Stopwatch watch_;
  History now_;
  std::vector<History> runs_;
  solver::SolveReport last_;
};

/// One problem. The entrants run in turn, so that what disturbs the machine disturbs all.
Json collective_study(Job& job, const StudyOptions& options, const spmv::Problem& problem) {
  SolveSystem system(job, options, problem,
                     library::choose_right_hand_side(options.right_hand_side, problem), true);
  std::vector<std::unique_ptr<Entrant>> entrants;
  for (const std::string& method : options.methods)
    for (const int steps : options.steps) {
      solver::MultigridSettings settings = library::parse_multigrid(options.settings);
      settings.steps = steps;
      entrants.push_back(std::make_unique<Entrant>(system, options, method, settings));
    }
  for (int i = -1; i < options.repetitions; ++i)
    for (const auto& entrant : entrants) entrant->collective_run(job, system.b(), i >= 0);
  Json runs = Json::array();
  for (const auto& entrant : entrants)
    runs.push_back(entrant->collective_report(job, system.op().comm_thread()));
  return {{"problem", problem.name()},
          {"rows", system.op().global_row_count()},
          {"operator", system.format_name()},
          {"runs", std::move(runs)}};
}

/// Milliseconds of a cycle on grid `index`, down and up; of all coarser ones together where
/// `and_coarser`.
double milliseconds_of(const Json& levels, std::size_t index, bool and_coarser) {
  double seconds = 0;
  for (std::size_t i = index; i < levels.size() && (i == index || and_coarser); ++i)
    for (const char* const pass : {"down", "up"})
      if (levels[i].contains(pass)) seconds += levels[i][pass]["seconds"].get<double>();
  return 1e3 * seconds;
}

void print_study(const Json& report) {
  const Json& study = report["study"];
  fmt::print("run          {}, {} mode, tolerance {:g}, medians of {} runs\n",
             ranks_and_threads(report), report["mode"].get<std::string>(),
             study["tolerance"].get<double>(), study["repetitions"].get<int>());
  for (const Json& each : study["problems"]) {
    fmt::print("\n{}: {} rows, {}\n", each["problem"].get<std::string>(),
               each["rows"].get<std::int64_t>(), each["operator"].get<std::string>());
    fmt::print("{:<12}{:>6}{:>8}{:>12}{:>11}{:>11}{:>12}{:>30}\n", "method", "steps", "cycles",
               "x a cycle", "seconds", "ms/cycle", "digits/s", "ms: finest, second, coarser");
    for (const Json& run : each["runs"]) {
      const Json& levels = run["multigrid"]["levels"];
      fmt::print(
          "{:<12}{:>6}{:>8}{:>12.4f}{:>11.4f}{:>11.3f}{:>12.1f}{:>12.3f}{:>9.3f}{:>9.3f}{}\n",
          run["method"].get<std::string>(), run["steps"].get<int>(),
          run["iterations"].get<std::int64_t>(), run["residual_per_cycle"].get<double>(),
          run["seconds"].get<double>(), 1e3 * run["seconds_per_cycle"].get<double>(),
          run["digits_per_second"].get<double>(), milliseconds_of(levels, 0, false),
          milliseconds_of(levels, 1, false), milliseconds_of(levels, 2, true),
          run["status"] == "converged" ? "" : "  " + run["status"].get<std::string>());
    }
  }
}

int study(const comm_thread::MpiSession& session, const StudyOptions& options) {
  const perfmodel::Stopwatch watch;
  options.check();
  std::vector<spmv::Problem> problems;
  for (const std::string& problem : options.problems)
    problems.push_back(spmv::Problem::parse(problem));
  Job job = collective_start_job(session, options.threads, options.strict_placement);
  const ReportFile report_file(job, options.json_path);
  Json studies = Json::array();
  for (const spmv::Problem& problem : problems)
    studies.push_back(collective_study(job, options, problem));
  Json report = collective_start_report(job, "study");
  report["method"] = fmt::format("{}", fmt::join(options.methods, ","));
  report["mode"] = options.mode;
  report["seconds"] = {{"total", watch.seconds()}};
  report["study"] = {{"parameter", "multigrid"},
                     {"tolerance", options.tolerance},
                     {"repetitions", options.repetitions},
                     {"problems", std::move(studies)}};
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) print_study(report);
  return 0;
}

}  // namespace

void add_multigrid_study(CLI::App& study_command, const comm_thread::MpiSession& session,
                         int& exit_code) {
  const auto options = std::make_shared<StudyOptions>();
  CLI::App& command = *study_command.add_subcommand(
      "multigrid", "compare smoothing steps of multigrid, as a method and with CG");
  command.add_option("problems", options->problems, "one or more grid problems")
      ->required()
      ->type_name("PROBLEM...");
  add_choices(command, "--methods", options->methods, {"multigrid", "cg"},
              "multigrid by itself, or as the preconditioner of cg");
  command.add_option("--steps", options->steps, "smoothing steps, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("S,...")
      ->capture_default_str();
  command
      .add_option("--multigrid", options->settings,
                  "other settings, as in weft solve: start=zero|full,gather=N")
      ->check(
          [](const std::string& text) { return fault_of([&] { library::parse_multigrid(text); }); })
      ->type_name("SETTINGS");
  add_choice(command, "--mode", options->mode, spmv::mode_names(),
             "halo exchange, as in weft solve");
  command.add_option("--rhs", options->right_hand_side, "right-hand side, as in weft solve")
      ->type_name("RHS");
  command.add_option("--tolerance", options->tolerance, "when a solve ends")
      ->check(fault_of_positive)
      ->capture_default_str();
  command.add_option("--repetitions", options->repetitions, "runs of each; medians are shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_job_options(command, *options);
  command.footer(
      "Examples:\n"
      "  weft study multigrid poisson3d:100\n"
      "  mpiexec.mpich -n 2 weft study multigrid poisson3d:64 anisotropic3d:64,1,1,10 --steps 2,3\n"
      "All of them have their memory at once: 8 of them take 250 bytes a row.\n"
      "tools/run study ... --plot FILE.svg draws the report.");
  command.callback([options, &session, &exit_code] { exit_code = study(session, *options); });
}

}  // namespace weft::tools
