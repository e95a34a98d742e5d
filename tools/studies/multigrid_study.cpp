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
#include <fmt/ranges.h>

#include "comm_thread/mpi/input_error.h"
#include "library/options/preconditioner_words.h"
#include "library/options/solve_settings.h"
#include "library/settings/preconditioner_choice.h"
#include "library/settings/right_hand_side_choice.h"
#include "perfmodel/stopwatch.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/statistics.h"
#include "tools/job/system_options.h"
#include "tools/reporting/multigrid_report.h"
#include "tools/studies/problem_study.h"
#include "tools/system/linear_system.h"
#include "tools/system/solve_system.h"

namespace weft::tools {
namespace {

constexpr const char* automatic = "auto";
constexpr int most_steps = solver::MultigridSettings::most_steps;

struct MultigridStudyOptions : SolveStudyOptions {
  std::vector<std::string> methods{"multigrid", "cg"};
  std::vector<std::string> steps{"1", "2", "3", "4"};
  std::vector<std::string> precisions{"single"};
  std::vector<std::string> modes{"task"};
  std::vector<std::string> gathers{};  // empty: as `settings` say
  std::string settings;  // of multigrid

  /// Throws comm_thread::InputError where options contradict each other.
  void check() const {
    if (settings.find("steps=") != std::string::npos)
      throw comm_thread::InputError("--multigrid: found steps; expected them in --steps");
    if (settings.find("precision=") != std::string::npos)
      throw comm_thread::InputError("--multigrid: found a precision; expected it in --precisions");
    if (settings.find("gather=") != std::string::npos && !gathers.empty())
      throw comm_thread::InputError("--multigrid: found gather with --gather; expected one");
    for (const std::string& count : steps)
      if (count != automatic &&
          (count.size() != 1 || count[0] < '1' || count[0] > '0' + most_steps))
        throw comm_thread::InputError(
            fmt::format("--steps: found {}; expected {} or numbers from 1 to {}", count, automatic,
                        most_steps));
  }
};

/// Residual norms of one solve, by the primary thread of a rank.
struct History {
  double seconds = 0;  // of the solve
  std::vector<std::pair<double, double>> points;  // seconds, ‖r‖/‖b‖; one a cycle, from the first
};

/// What a run differs by from the others.
struct MultigridVariant {
  std::string method;
  std::string steps;
  std::string precision;
  std::string mode;
  std::string gather;  // empty: as the settings of all say
};

/// One variant.
class MultigridEntrant {
 public:
  /// Collective. Throws comm_thread::InputError.
  MultigridEntrant(const Job& job, SolveSystem& system, const MultigridStudyOptions& options,
                   const spmv::Problem& problem, const MultigridVariant& variant)
      : variant_(variant) {
    job.world().barrier();
    const perfmodel::Stopwatch watch;
    library::SolveSettings settings;
    settings.operator_kind = "stencil";
    settings.mode = variant.mode;
    settings.method = variant.method;
    if (variant.method == "cg") settings.preconditioner = "multigrid";
    settings.multigrid = "precision=" + variant.precision;
    if (variant.steps != automatic) settings.multigrid += ",steps=" + variant.steps;
    if (!variant.gather.empty()) settings.multigrid += ",gather=" + variant.gather;
    if (!options.settings.empty()) settings.multigrid += "," + options.settings;
    cycle_ = library::collective_make_preconditioner(system.op(), settings, problem).object;
    solver_ = solver::find_krylov_method(variant.method)
                  ->collective_make(
                      system.op(),
                      {.mode = *spmv::parse_mode(variant.mode),
                       .preconditioner = cycle_.get(),
                       .stop = {.tolerance = options.tolerance, .max_iterations = most_cycles},
                       .multigrid = settings.parsed_multigrid(),
                       .on_iteration = [this](std::int64_t, double residual) {
                         now_.points.emplace_back(watch_.seconds(), residual);
                       }});
    grids_ = std::make_unique<MultigridGrids>(*solver_, cycle_.get());
    setup_seconds_ = job.world().max(watch.seconds());
  }

  /// Collective.
  void collective_run(const Job& job, std::span<const double> b, bool is_counted) {
    now_ = {.points = {{0, 1}}};
    now_.points.reserve(most_cycles + 1);
    watch_ = {};
    last_ = solver_->solve(b);
    now_.seconds = job.world().max(last_.solve_seconds);
    if (is_counted) return runs_.push_back(now_);
    if (first_seconds_ == 0) first_seconds_ = now_.seconds;
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
    const Json multigrid = grids_->collective_report(job, comm_thread);
    for (const auto& [time, residual] : usual.points) history.push_back({time, residual});
    return {{"method", variant_.method},
            {"steps", multigrid["steps"]},
            {"precision", variant_.precision},
            {"mode", variant_.mode},
            {"status", solver::name(last_.status)},
            {"iterations", last_.iterations},
            {"relative_residual", last_.relative_residual},
            {"setup_seconds", setup_seconds_},
            {"first_seconds", first_seconds_},
            {"seconds", usual.seconds},
            {"spread", summarise(seconds).spread},
            {"seconds_per_cycle", usual.seconds / cycles},
            {"residual_per_cycle", std::pow(last_.relative_residual, 1 / cycles)},
            {"digits_per_second", -std::log10(last_.relative_residual) / usual.seconds},
            {"history", std::move(history)},
            {"multigrid", multigrid}};
  }

 private:
  static constexpr std::int64_t most_cycles = 200;

  MultigridVariant variant_;
  std::unique_ptr<solver::Preconditioner> cycle_;
  std::unique_ptr<solver::KrylovMethod> solver_;
  std::unique_ptr<MultigridGrids> grids_;
  perfmodel::Stopwatch watch_;
  History now_;
  std::vector<History> runs_;
  double setup_seconds_ = 0;
  double first_seconds_ = 0;  // of the first solve, to which the memory is new
  solver::SolveReport last_;
};

std::vector<MultigridVariant> variants(const MultigridStudyOptions& options) {
  const std::vector<std::string> gathers =
      options.gathers.empty() ? std::vector<std::string>{""} : options.gathers;
  std::vector<MultigridVariant> all;
  for (const std::string& method : options.methods)
    for (const std::string& steps : options.steps)
      for (const std::string& precision : options.precisions)
        for (const std::string& gather : gathers)
          for (const std::string& mode : options.modes)
            all.push_back({method, steps, precision, mode, gather});
  return all;
}

/// One problem.
Json collective_study(Job& job, const MultigridStudyOptions& options,
                      const spmv::Problem& problem) {
  SolveSystem system(job, options, problem,
                     library::choose_right_hand_side(options.right_hand_side, problem), true);
  std::vector<std::unique_ptr<MultigridEntrant>> entrants;
  for (const MultigridVariant& variant : variants(options))
    entrants.push_back(std::make_unique<MultigridEntrant>(job, system, options, problem, variant));
  return {{"problem", problem.name()},
          {"rows", system.op().global_row_count()},
          {"operator", system.format_name()},
          {"runs", collective_run_in_turn(job, system, entrants, options.repetitions)}};
}

/// On the finest grid, and on the others if that differs.
std::string steps_of(const Json& multigrid) {
  const int finest = multigrid["steps"].get<int>();
  const int others = multigrid["coarse_steps"].get<int>();
  return others == finest ? fmt::format("{}", finest) : fmt::format("{}, {}", finest, others);
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

void print_multigrid_study(const Json& report) {
  const Json& study = report["study"];
  fmt::print("run          {}, tolerance {:g}, medians of {} runs\n", ranks_and_threads(report),
             study["tolerance"].get<double>(), study["repetitions"].get<int>());
  for (const Json& each : study["problems"]) {
    fmt::print("\n{}: {} rows, {}\n", each["problem"].get<std::string>(),
               each["rows"].get<std::int64_t>(), each["operator"].get<std::string>());
    fmt::print("{:<10}{:>6} {:<10}{:<13}{:>7}{:>7}{:>11}{:>8}{:>8}{:>9}{:>10}{:>10}{:>9}{:>30}\n",
               "method", "steps", "precision", "mode", "gather", "cycles", "x a cycle", "set-up",
               "first", "seconds", "ms/cycle", "bound", "hidden", "ms: finest, second, coarser");
    for (const Json& run : each["runs"]) {
      const Json& levels = run["multigrid"]["levels"];
      fmt::print(
          "{:<10}{:>6} "
          "{:<10}{:<13}{:>7}{:>7}{:>11.4f}{:>8.4f}{:>8.4f}{:>9.4f}{:>10.3f}{:>10.3f}{:>7.0f} %"
          "{:>12.3f}{:>9.3f}{:>9.3f}{}\n",
          run["method"].get<std::string>(), steps_of(run["multigrid"]),
          run["precision"].get<std::string>(), run["mode"].get<std::string>(),
          run["multigrid"]["gathering"]["least_points"].get<std::int64_t>(),
          run["iterations"].get<std::int64_t>(), run["residual_per_cycle"].get<double>(),
          run["setup_seconds"].get<double>(), run["first_seconds"].get<double>(),
          run["seconds"].get<double>(), 1e3 * run["seconds_per_cycle"].get<double>(),
          1e3 * run["multigrid"]["bound_seconds"].get<double>(),
          100 * run["multigrid"]["hidden_fraction"].get<double>(),
          milliseconds_of(levels, 0, false), milliseconds_of(levels, 1, false),
          milliseconds_of(levels, 2, true),
          run["status"] == "converged" ? "" : "  " + run["status"].get<std::string>());
    }
  }
}

int study(const comm_thread::MpiSession& session, const MultigridStudyOptions& options) {
  options.check();
  return collective_study_problems(
      session, options,
      {.collective_study =
           [&](Job& job, const spmv::Problem& problem) {
             return collective_study(job, options, problem);
           },
       .facts = {{"parameter", "multigrid"}, {"tolerance", options.tolerance}},
       .run = {{"method", fmt::format("{}", fmt::join(options.methods, ","))},
               {"mode", fmt::format("{}", fmt::join(options.modes, ","))}},
       .print = print_multigrid_study});
}

}  // namespace

void add_multigrid_study(CLI::App& study_command, const comm_thread::MpiSession& session,
                         int& exit_code) {
  const auto options = std::make_shared<MultigridStudyOptions>();
  CLI::App& command = *study_command.add_subcommand(
      "multigrid",
      "compare steps, precisions, modes and gathering of multigrid, by itself and in CG");
  add_solve_study_options(command, *options, "one or more grid problems");
  add_choices(command, "--methods", options->methods, {"multigrid", "cg"},
              "multigrid by itself, or as the preconditioner of cg");
  add_list(command, "--steps", options->steps, "smoothing steps, or auto, as in weft solve",
           "S,...");
  command
      .add_option("--multigrid", options->settings,
                  "settings of all, as in weft solve: start=zero|full,gather=N")
      ->check(
          [](const std::string& text) { return fault_of([&] { library::parse_multigrid(text); }); })
      ->type_name("SETTINGS");
  add_choices(command, "--precisions", options->precisions, {"single", "double"},
              "of the hierarchy; the method itself is in double precision");
  add_choices(command, "--modes", options->modes, spmv::mode_names(),
              "halo exchange, as in weft solve");
  command
      .add_option(
          "--gather", options->gathers,
          "points of a rank below which a grid moves to fewer ranks, or auto, separated by\n"
          "commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        return fault_of([&] { library::parse_multigrid("gather=" + text); });
      })
      ->type_name("N|auto,...");
  add_job_options(command, *options);
  show_in_help(command, library::OptionGroup::method, {"--methods", "--steps", "--precisions"});
  show_in_help(command, library::OptionGroup::run, {"--modes"});
  command.footer(
      "Examples:\n"
      "  weft study multigrid poisson3d:100\n"
      "  mpiexec.mpich -n 2 weft study multigrid poisson3d:64 anisotropic3d:64,1,1,10 --steps 2,3\n"
      "All of them have their memory at once: 8 of them take 250 bytes a row.\n"
      "tools/run study ... --plot FILE.svg draws the report.");
  command.callback([options, &session, &exit_code] { exit_code = study(session, *options); });
}

}  // namespace weft::tools
