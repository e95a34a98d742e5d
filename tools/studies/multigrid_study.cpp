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
#include "library/system/linear_system.h"
#include "perfmodel/statistics.h"
#include "perfmodel/stopwatch.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/preconditioner.h"
#include "spmv/modes/mode.h"
#include "spmv/problems/problem.h"
#include "tools/job/job_report.h"
#include "tools/job/option_binding.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/solve_levels.h"
#include "tools/studies/study.h"
#include "tools/system/program_system.h"

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

/// One variant.
class MultigridEntrant {
 public:
  /// `variant`: what it differs by. Collective. Throws comm_thread::InputError.
  MultigridEntrant(const Job& job, library::LinearSystem& system,
                   const MultigridStudyOptions& options, const spmv::Problem& problem, Json variant)
      : variant_(std::move(variant)) {
    const auto its = [this](const char* field) { return variant_[field].get<std::string>(); };
    job.world().barrier();
    const perfmodel::Stopwatch watch;
    library::SolveSettings settings;
    settings.operator_kind = "stencil";
    settings.mode = its("mode");
    settings.method = its("method");
    const solver::KrylovEntry& entry = *solver::find_krylov_method(settings.method);
    if (!entry.needs_grid) settings.preconditioner = "multigrid";
    settings.multigrid = "precision=" + its("precision");
    if (its("steps") != automatic) settings.multigrid += ",steps=" + its("steps");
    if (!its("gather").empty()) settings.multigrid += ",gather=" + its("gather");
    if (!options.settings.empty()) settings.multigrid += "," + options.settings;
    cycle_ = library::collective_make_preconditioner(system.op(), settings, problem).object;
    solver_ = entry.collective_make(
        system.op(), {.mode = *spmv::parse_mode(settings.mode),
                      .preconditioner = cycle_.get(),
                      .stop = {.tolerance = options.tolerance, .max_iterations = most_cycles},
                      .multigrid = settings.parsed_multigrid(),
                      .on_iteration = [this](std::int64_t, double residual) {
                        now_.points.emplace_back(watch_.seconds(), residual);
                      }});
    levels_ = std::make_unique<SolveLevels>(*solver_, cycle_.get());
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
    levels_->forget_times();
  }

  /// Collective; complete on rank 0.
  Json collective_report(const Job& job, comm_thread::CommThread& comm_thread) {
    std::ranges::sort(runs_, {}, &History::seconds);
    const History& usual = runs_[runs_.size() / 2];
    std::vector<double> seconds;
    for (const History& run : runs_) seconds.push_back(run.seconds);
    const auto cycles = static_cast<double>(std::max<std::int64_t>(last_.iterations, 1));
    Json history = Json::array();
    const Json multigrid = levels_->collective_report(job, comm_thread);
    for (const auto& [time, residual] : usual.points) history.push_back({time, residual});
    return {{"method", variant_["method"]},
            {"steps", multigrid["steps"]},
            {"precision", variant_["precision"]},
            {"mode", variant_["mode"]},
            {"status", solver::name(last_.status)},
            {"iterations", last_.iterations},
            {"relative_residual", last_.relative_residual},
            {"setup_seconds", setup_seconds_},
            {"first_seconds", first_seconds_},
            {"seconds", usual.seconds},
            {"spread", perfmodel::summarise(seconds).spread},
            {"seconds_per_cycle", usual.seconds / cycles},
            {"residual_per_cycle", std::pow(last_.relative_residual, 1 / cycles)},
            {"digits_per_second", -std::log10(last_.relative_residual) / usual.seconds},
            {"history", std::move(history)},
            {"multigrid", multigrid}};
  }

 private:
  static constexpr std::int64_t most_cycles = 200;

  Json variant_;
  std::unique_ptr<solver::Preconditioner> cycle_;
  std::unique_ptr<solver::KrylovMethod> solver_;
  std::unique_ptr<SolveLevels> levels_;
  perfmodel::Stopwatch watch_;
  History now_;
  std::vector<History> runs_;
  double setup_seconds_ = 0;
  double first_seconds_ = 0;  // of the first solve, to which the memory is new
  solver::SolveReport last_;
};

/// One problem.
Json collective_study(Job& job, const MultigridStudyOptions& options,
                      const spmv::Problem& problem) {
  const auto system = collective_make_system(job, problem, options, true);
  const std::vector<std::string> as_settings_say{""};
  std::vector<Json> variants =
      combinations({{"method", options.methods},
                    {"steps", options.steps},
                    {"precision", options.precisions},
                    {"gather", options.gathers.empty() ? as_settings_say : options.gathers},
                    {"mode", options.modes}});
  return {{"problem", problem.name()},
          {"rows", system->op().global_row_count()},
          {"operator", system->format_name()},
          {"runs", collective_run_in_turn<MultigridEntrant>(job, *system, options, problem,
                                                            std::move(variants))}};
}

/// On the finest grid, and on the others if that differs.
std::string steps_of(const Json& run) {
  const int finest = run["multigrid"]["steps"].get<int>();
  const int others = run["multigrid"]["coarse_steps"].get<int>();
  return others == finest ? fmt::format("{}", finest) : fmt::format("{}, {}", finest, others);
}

/// Milliseconds of a cycle on the finest grid, on the second, and on all coarser ones.
std::string milliseconds_of_levels(const Json& run) {
  double seconds[3] = {0, 0, 0};
  std::size_t index = 0;
  for (const Json& level : run["multigrid"]["levels"]) {
    for (const char* const pass : {"down", "up"})
      if (level.contains(pass)) seconds[index] += level[pass]["seconds"].get<double>();
    index = std::min<std::size_t>(index + 1, 2);
  }
  return fmt::format("{:.3f}{:>9.3f}{:>9.3f}", 1e3 * seconds[0], 1e3 * seconds[1],
                     1e3 * seconds[2]);
}

void print_multigrid_study(const Json& report) {
  print_problem_tables(report, true,
                       {column("method", -10, "/method"),
                        {"steps", 6, steps_of},
                        {"", 1, [](const Json&) { return ""; }},
                        column("precision", -10, "/precision"),
                        column("mode", -13, "/mode"),
                        column("gather", 7, "/multigrid/gathering/least_points"),
                        column("cycles", 7, "/iterations"),
                        column("x a cycle", 11, "/residual_per_cycle", "{:.4f}"),
                        column("set-up", 8, "/setup_seconds", "{:.4f}"),
                        column("first", 8, "/first_seconds", "{:.4f}"),
                        column("seconds", 9, "/seconds", "{:.4f}"),
                        column("ms/cycle", 10, "/seconds_per_cycle", "{:.3f}", 1e3),
                        column("bound", 10, "/multigrid/bound_seconds", "{:.3f}", 1e3),
                        column("hidden", 9, "/multigrid/hidden_fraction", "{:.0f} %", 100),
                        {"ms: finest, second, coarser", 30, milliseconds_of_levels}});
}

int study(const comm_thread::MpiSession& session, const CLI::App& /*command*/,
          const MultigridStudyOptions& options) {
  options.check();
  return collective_study_problems(
      session, options,
      {{{"method", fmt::format("{}", fmt::join(options.methods, ","))},
        {"mode", fmt::format("{}", fmt::join(options.modes, ","))}},
       {{"parameter", "multigrid"}, {"tolerance", options.tolerance}}},
      [&](Job& job, const spmv::Problem& problem) {
        return collective_study(job, options, problem);
      },
      print_multigrid_study);
}

void add_options(CLI::App& command, MultigridStudyOptions& options) {
  const auto check_of = [](const std::string& prefix) {
    return [prefix](const std::string& text) {
      return fault_of([&] { library::parse_multigrid(prefix + text); });
    };
  };
  add_solve_study_options(command, options, "one or more grid problems");
  add_choices(command, "--methods", options.methods, {"multigrid", "cg"},
              "multigrid by itself, or as the preconditioner of cg");
  add_list(command, "--steps", options.steps, "smoothing steps, or auto, as in weft solve",
           "S,...");
  command
      .add_option("--multigrid", options.settings,
                  "settings of all, as in weft solve: start=zero|full,gather=N")
      ->check(check_of(""))
      ->type_name("SETTINGS");
  add_choices(command, "--precisions", options.precisions, {"single", "double"},
              "of the hierarchy; the method itself is in double precision");
  add_choices(command, "--modes", options.modes, spmv::mode_names(),
              "halo exchange, as in weft solve");
  add_list(command, "--gather", options.gathers,
           "points of a rank below which a grid moves to fewer ranks, or auto, separated by\n"
           "commas",
           "N|auto,...")
      ->check(check_of("gather="));
  add_job_options(command, options);
  show_in_help(command, library::OptionGroup::method, {"--methods", "--steps", "--precisions"});
  show_in_help(command, library::OptionGroup::run, {"--modes"});
  command.footer(
      "Examples:\n"
      "  weft study multigrid poisson3d:100\n"
      "  mpiexec.mpich -n 2 weft study multigrid poisson3d:64 anisotropic3d:64,1,1,10 --steps 2,3\n"
      "All of them have their memory at once: 8 of them take 250 bytes a row.\n"
      "tools/run study ... --plot FILE.svg draws the report.");
}

}  // namespace

void add_multigrid_study(const StudyProgram& program) {
  program.add<MultigridStudyOptions>(
      "multigrid",
      "compare steps, precisions, modes and gathering of multigrid, by itself and in CG");
}

}  // namespace weft::tools
