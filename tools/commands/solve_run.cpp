#include "tools/commands/solve_run.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "library/include/weft/weft.hpp"
#include "library/measure/mode_choice.h"
#include "library/settings/right_hand_side_choice.h"
#include "library/solve/chosen_solver.h"
#include "library/solve/solve_description.h"
#include "library/system/linear_system.h"
#include "library/system/memory_forecast.h"
#include "library/system/solve_forecast.h"
#include "perfmodel/page_stock.h"
#include "solver/methods/method_table.h"
#include "solver/report/columns_outcome.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/formats/vtk_file.h"
#include "spmv/modes/mode.h"
#include "tools/job/job_report.h"
#include "tools/job/progress_line.h"
#include "tools/job/run_history.h"
#include "tools/job/timeline.h"
#include "tools/reporting/choices_report.h"
#include "tools/reporting/run_output.h"
#include "tools/reporting/solve_levels.h"
#include "tools/reporting/solve_summary.h"
#include "tools/system/job_checkpoints.h"
#include "tools/system/memory_report.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

using library::ChosenSolver;
using library::LinearSystem;
using library::MemoryForecast;
using solver::SolveReport;

/// What a run of the command tells of a solve while it goes on.
class Watcher {
 public:
  using Forecast = std::function<MemoryForecast(const library::SolveSettings&)>;

  /// `forecast_of`: of what has been chosen. Lifetime: all outlive it.
  Watcher(Job& job, const SolveOptions& options, const perfmodel::Stopwatch& watch,
          const MemoryForecast& forecast, Forecast forecast_of, Timeline& timeline)
      : job_(job),
        has_history_(options.column_count == 1),
        watch_(watch),
        forecast_of_(std::move(forecast_of)),
        forecast_(forecast),
        timeline_(timeline),
        progress_(job.is_root() && somebody_watches(), options.stop.tolerance) {}

  /// Of a solver, which is to call `begin_with` before it solves.
  library::SolveHooks hooks() {
    return {.on_set_up =
                [this](const library::SolveSettings& settings) {
                  if (forecast_.bytes() > largest_.bytes()) largest_ = forecast_;
                  forecast_ = forecast_of_(settings);
                  library::collective_check_memory(job_, "--method " + settings.method, forecast_);
                  preconditioner_name_ = settings.preconditioner_name();
                },
            .on_forecast = [this](double bytes) { collective_note_factors(bytes); },
            .on_start = [this] { collective_start(); },
            .on_iteration =
                [this](std::int64_t iteration, double residual) {
                  progress_.update(iteration, residual);
                  if (history_) history_->add(iteration, residual);
                },
            .stops = {},
            .checkpoints = nullptr};
  }
  void begin_with(ChosenSolver& solver) { solver_ = &solver; }
  void end() { progress_.clear(); }

  /// Of the choice that needs most.
  const MemoryForecast& forecast() const {
    return forecast_.bytes() < largest_.bytes() ? largest_ : forecast_;
  }
  SolveLevels& levels() { return *levels_; }
  const std::optional<ResidualHistory>& history() const { return history_; }  // of rank 0
  double schwarz_seconds_before() const { return schwarz_seconds_before_; }
  double setup_seconds() const { return setup_seconds_; }  // until a method began

 private:
  /// Everything else is there already, and the matrices of the subdomains.
  void collective_note_factors(double bytes) {
    library::note_factors(bytes, forecast_);
    library::collective_check_memory(job_, "--preconditioner " + preconditioner_name_, forecast_);
  }

  /// Counts from where a method begins to iterate, for the first right-hand side.
  void collective_start() {
    progress_.clear();
    if (solver_->first_vector() > 0) return;
    setup_seconds_ = watch_.seconds();
    levels_ = std::make_unique<SolveLevels>(solver_->method(), solver_->preconditioner());
    levels_->forget_times();
    timeline_.collective_start();
    if (job_.is_root() && has_history_) history_.emplace();
    schwarz_seconds_before_ = solver_->schwarz() ? solver_->schwarz()->seconds() : 0;
  }

  Job& job_;
  bool has_history_;
  const perfmodel::Stopwatch& watch_;
  Forecast forecast_of_;
  MemoryForecast forecast_;
  MemoryForecast largest_;  // of the choices before
  std::string preconditioner_name_;
  Timeline& timeline_;
  ProgressLine progress_;
  ChosenSolver* solver_ = nullptr;
  std::unique_ptr<SolveLevels> levels_;
  std::optional<ResidualHistory> history_;
  double schwarz_seconds_before_ = 0;
  double setup_seconds_ = 0;
};

/// What was asked for of the system and its end, in the words of the command line.
std::string options_of_system(const SolveOptions& options) {
  std::string words;
  const auto problem = spmv::Problem::parse(options.problem);
  if (options.right_hand_side != library::choose_right_hand_side({}, problem).name())
    words += " --rhs " + options.right_hand_side;
  if (options.order != "auto") words += " --order " + options.order;
  for (const char* const name : {"partition", "format", "triangle", "base", "null-space",
                                 "tolerance", "absolute-tolerance"}) {
    const auto& value = library::find_option(library::solve_options(), name)->value;
    const std::string word = value.show(options);
    if (word != value.show({})) words += fmt::format(" --{} {}", name, word);
  }
  return words;
}

/// Notes what was chosen for a system, and the command line that chooses the same.
void note_choices(const Job& job, LinearSystem& system, const SolveOptions& options,
                  const ChosenSolver& solver, const std::string& format, SolveFacts& facts) {
  const spmv::SparseOperator* const op = system.matrix_operator();
  const auto choices =
      choices_of({.order = system.ordering().word(),
                  .order_choice = system.ordering().why,
                  .partition = options.partition,
                  .boundary_share = static_cast<double>(facts.boundary_rows) / facts.rows,
                  .ranks = job.world().size(),
                  .asked_format = options.format,
                  .format = format,
                  .storage_times = system.storage_times(),
                  .has_undecided_storage = op && op->matrix().is_undecided(),
                  .mode = options.mode,
                  .mode_choice = facts.mode_choice,
                  .preconditioner = options.preconditioner});
  facts.choices = choices_report(choices);
  facts.command =
      fmt::format("weft solve {} --method {} --preconditioner {}{}{}{}{}", options.problem,
                  options.method, options.preconditioner, solver.is_scaled() ? " --scale rows" : "",
                  options.grid.empty() ? "" : " --grid " + options.grid, options_of(choices),
                  options_of_system(options));
}

/// The description of a solve, and what `facts` say of the system and of the solver. Collective.
Report collective_describe(const Job& job, LinearSystem& system, const SolveOptions& options,
                           ChosenSolver& solver, const SolveReport& solved, Watcher& watcher,
                           SolveFacts& facts) {
  Report description = library::describe(solver, solved, system.op(), system.format_name());
  description.setup_seconds = watcher.setup_seconds();
  if (options.method != "auto") description.method = options.method;  // as pcg-jacobi
  if (!description.method_choice.empty())
    description.method_choice +=
        fmt::format("; a reduction alone {:.3f} ms", 1e3 * facts.communication.reduction_seconds);
  const solver::KrylovEntry& entry = solver.entry();
  facts.rows = static_cast<double>(system.op().global_row_count());
  facts.nonzeros = static_cast<double>(system.nonzero_count());
  facts.matrix_bytes = system.collective_matrix_bytes();
  facts.boundary_rows = system.collective_boundary_row_count();
  facts.ordering = ordering_report(system.ordering());
  if (solver.has_chosen())
    note_choices(job, system, options, solver, description.matrix_format, facts);
  facts.entry = &entry;
  facts.needs = solver.method().needs();
  facts.preconditioner_setup_seconds = solver.preconditioner_seconds();
  facts.schwarz = solver.schwarz();
  if (facts.schwarz)
    facts.schwarz_seconds = facts.schwarz->seconds() - watcher.schwarz_seconds_before();
  Json levels = watcher.levels().collective_report(job, system.op().comm_thread(),
                                                   facts.preconditioner_setup_seconds);
  (levels.contains("degree") ? facts.amg : facts.multigrid) = std::move(levels);
  if (entry.has_restart) facts.restart = solver.method_options().restart;
  return description;
}

/// The outcome for each right-hand side.
Json columns_report(const ChosenSolver& solver, LinearSystem& system,
                    const std::vector<SolveReport>& reports) {
  Json list = Json::array();
  for (const SolveReport& each : reports)
    list.push_back(
        library::outcome_json(library::describe(solver, each, system.op(), system.format_name())));
  return list;
}

/// Solves for each right-hand side, and for several of them in blocks where the method can; the
/// solutions of several are in `solutions`. Collective.
std::vector<SolveReport> collective_solve_columns(
    ChosenSolver& solver, const std::vector<LinearSystem::Vector>& columns,
    const std::vector<LinearSystem::Vector>& initial,
    const std::function<void(std::int64_t, double)>& on_iteration,
    std::vector<LinearSystem::Vector>& solutions) {
  if (columns.size() == 1)
    return {solver.collective_solve(
        columns.front().span(),
        initial.empty() ? std::nullopt : solver::Guess(initial.front().span()))};
  std::vector<std::span<const double>> b;
  std::vector<std::span<double>> x;
  for (const auto& column : columns) {
    b.push_back(column.span());
    solutions.emplace_back(column.size());
  }
  for (auto& solution : solutions) x.push_back(solution.span());
  std::vector<std::span<const double>> guesses;
  for (const auto& guess : initial) guesses.push_back(guess.span());
  return solver.collective_solve_block(
      b, guesses, x, true, [&](std::size_t /*vector*/, std::int64_t iteration, double residual) {
        on_iteration(iteration, residual);
      });
}

std::vector<std::span<const double>> views_of(const ChosenSolver& solver,
                                              const std::vector<LinearSystem::Vector>& solutions) {
  if (solutions.empty()) return {solver.solution()};
  std::vector<std::span<const double>> views;
  for (const auto& solution : solutions) views.push_back(solution.span());
  return views;
}

void collective_check_writable(const Job& job, const std::string& path) {
  if (spmv::is_vtk_file(path))
    spmv::collective_check_writable(job.world(), path);
  else if (!path.empty())
    spmv::collective_check_vector_output(job.world(), path);
}

/// Settles the mode, and measures messages before the system is solved. Collective.
SolveFacts collective_measure(Job& job, LinearSystem& system, SolveOptions& options) {
  SolveFacts facts;
  facts.problem = system.name();
  facts.mode_choice =
      library::collective_settle_mode(job, system.op(), options.mode, options.tries_modes);
  facts.communication = library::collective_measure_communication(job, system.op());
  return facts;
}

/// Solves, writes the solution, and reports. Returns the exit code.
int collective_solve(Job& job, SolveOptions options, const perfmodel::Stopwatch& watch,
                     const spmv::RightHandSide& right_hand_side, const library::SolveUse& use,
                     const MemoryForecast& forecast, RunOutput& output) {
  std::optional<perfmodel::PageStock> pages(std::in_place);  // left by reading, for amg's set-up
  const auto made = collective_make_system(job, spmv::Problem::parse(options.problem), options,
                                           options.is_matrix_free());
  LinearSystem& system = *made;
  const auto columns = system.collective_right_hand_sides(right_hand_side, options.column_count);
  std::vector<LinearSystem::Vector> initial;
  if (use.has_start) initial = system.collective_read_start(options.initial_path, columns.size());
  SolveFacts facts = collective_measure(job, system, options);
  JobCheckpoints checkpoints(job, options.checkpoints);
  const auto forecast_of = [&](const library::SolveSettings& chosen) {
    return library::collective_forecast_chosen(system, chosen, use, forecast);
  };
  Watcher watcher(job, options, watch, forecast, forecast_of, output.timeline);
  library::SolveHooks hooks = watcher.hooks();
  hooks.checkpoints = checkpoints.get();
  hooks.on_set_up = [&, tell = hooks.on_set_up](const library::SolveSettings& settings) {
    if (!settings.preconditioner.starts_with("amg")) pages.reset();
    tell(settings);
  };
  ChosenSolver solver(system.op(), options.settings(), system.context(), hooks);
  pages.reset();
  watcher.begin_with(solver);
  std::vector<LinearSystem::Vector> solutions;  // of several right-hand sides
  const std::vector<SolveReport> results =
      collective_solve_columns(solver, columns, initial, hooks.on_iteration, solutions);
  SolveReport result = results.size() == 1 ? results.front() : solver::worst_of(results);
  watcher.end();
  checkpoints.finish(result.status, result.explanation);
  options.method = solver.settings().method;
  options.preconditioner = solver.settings().preconditioner;
  options.grid = solver.settings().grid;
  if (!options.solution_path.empty())
    system.collective_write(views_of(solver, solutions), options.solution_path);

  const Report description =
      collective_describe(job, system, options, solver, result, watcher, facts);
  facts.total_seconds = watch.seconds();
  Json report = collective_solve_report(job, options, facts, description, result);
  if (results.size() > 1) report["columns"] = columns_report(solver, system, results);
  if (watcher.history()) report["history"] = watcher.history()->report();
  collective_finish_run(job, output, watcher.forecast(), &checkpoints, result.solve_seconds, report,
                        print_solve_summary);
  return checkpoints.exit_code(result.status);
}

}  // namespace

int collective_solve_system(Job& job, SolveOptions options,
                            const spmv::RightHandSide& right_hand_side,
                            const perfmodel::Stopwatch& watch) {
  const auto problem = spmv::Problem::parse(options.problem);
  options.column_count =
      library::collective_count_right_hand_sides(job.world(), problem, right_hand_side);
  options.check_columns();
  RunOutput output(job, options);
  collective_check_writable(job, options.solution_path);
  const library::SolveUse use{.column_count = options.column_count,
                              .has_start = !options.initial_path.empty(),
                              .keeps_checkpoints = options.checkpoints.is_used()};
  const auto forecast = library::collective_forecast_solve(job.world(), problem, options, use);
  if (options.is_dry_run)
    return collective_show_forecast(job, output.file, "solve", problem.name(), forecast);
  library::collective_check_memory(job, problem.name(), forecast);
  return collective_solve(job, std::move(options), watch, right_hand_side, use, forecast, output);
}

}  // namespace weft::tools
