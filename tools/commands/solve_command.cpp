#include "tools/commands/solve_command.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "perfmodel/stopwatch.h"
#include "solver/krylov/multigrid_settings.h"
#include "solver/methods/iteration_forecast.h"
#include "solver/methods/method_table.h"
#include "solver/multigrid/matrix_multigrid.h"
#include "solver/multigrid/multigrid_preconditioner.h"
#include "solver/precondition/diagonal_preconditioner.h"
#include "solver/precondition/schwarz_preconditioner.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/grid/stencil_operator.h"
#include "spmv/modes/mode.h"
#include "tools/commands/solve_forecast.h"
#include "tools/commands/solve_system.h"
#include "tools/job/counters.h"
#include "tools/job/exit_codes.h"
#include "tools/job/job.h"
#include "tools/job/progress_line.h"
#include "tools/job/report.h"
#include "tools/job/residual_history.h"
#include "tools/job/timeline.h"
#include "tools/measure/mode_choice.h"
#include "tools/reporting/multigrid_report.h"
#include "tools/reporting/solve_summary.h"
#include "tools/system/linear_system.h"
#include "tools/system/memory_forecast.h"
#include "tools/system/solve_options.h"

namespace weft::tools {
namespace {

using solver::KrylovEntry;
using solver::KrylovMethod;
using solver::SolveReport;
using solver::SolveStatus;

constexpr std::int64_t trial_iterations = 10;
constexpr std::int64_t grid_trial_iterations = 2;

solver::GridCycle::Options cycle_options(const SolveOptions& options) {
  const solver::MultigridSettings settings = options.parsed_multigrid();
  return {.steps = settings.steps,
          .least_points = settings.least_points,
          .mode = *spmv::parse_mode(options.mode)};
}

/// Of a grid, or of a matrix whose grid is known.
std::unique_ptr<solver::Preconditioner> collective_make_multigrid(SolveSystem& system,
                                                                  const SolveOptions& options,
                                                                  const spmv::Problem& problem) {
  solver::GridCycle::Options cycle = cycle_options(options);
  const spmv::SparseOperator* const matrix = system.matrix_operator();
  if (!matrix)
    return std::make_unique<solver::MultigridPreconditioner>(
        dynamic_cast<spmv::StencilOperator&>(system.op()), cycle);
  if (problem.has_grid() && !options.grid.empty())
    throw comm_thread::InputError("found --grid for a problem with a grid; expected none");
  if (problem.has_stencil())
    return std::make_unique<solver::MatrixMultigrid>(*matrix, spmv::GridStencil::of(problem),
                                                     cycle);
  if (!problem.has_grid() && options.grid.empty())
    throw comm_thread::InputError(
        "found no grid; expected --grid NXxNYxNZ with --preconditioner multigrid");
  const auto grid = problem.has_grid() ? solver::MatrixMultigrid::Grid{.size = problem.grid}
                                       : *options.parsed_grid();
  if (!options.has_smoothing_steps()) cycle.steps = 0;
  return std::make_unique<solver::MatrixMultigrid>(*matrix, grid, cycle);
}

/// The preconditioner that `options` ask for; null: none. Names the problem in its errors.
std::unique_ptr<solver::Preconditioner> collective_make_preconditioner(
    const Job& job, SolveSystem& system, const SolveOptions& options, const spmv::Problem& problem,
    MemoryForecast& forecast, SolveFacts& facts) {
  const perfmodel::Stopwatch watch;
  try {
    if (options.has_jacobi()) return std::make_unique<solver::DiagonalPreconditioner>(system.op());
    if (options.preconditioner == "multigrid")
      return collective_make_multigrid(system, options, problem);
    auto wanted = options.parsed_schwarz(problem.is_file());
    if (!wanted) return nullptr;
    wanted->on_forecast = [&](double bytes) {
      // Everything else is there already, and the matrices of the subdomains.
      forecast.parts.push_back({"subdomains", std::max(0.0, resident_bytes() - forecast.bytes())});
      forecast.parts.push_back({"factors", bytes});
      collective_check_memory(job, "--preconditioner schwarz", forecast);
    };
    auto made = std::make_unique<solver::SchwarzPreconditioner>(*system.matrix_operator(), *wanted);
    facts.schwarz = made.get();
    facts.schwarz_setup_seconds = watch.seconds();
    return made;
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem.name() + ": " + error.what());
  }
}

struct Choice {
  const KrylovEntry* method;
  std::string why;
};

const KrylovEntry& default_method() { return solver::krylov_methods().front(); }

/// True if `auto` may choose it for this operator.
bool is_candidate(const KrylovEntry& entry, const Job& job, const spmv::GridStencil* stencil,
                  const KrylovMethod::Options& options) {
  if (entry.needs_grid) return stencil && !options.preconditioner;
  return entry.is_cg_variant && !(entry.hides_reduction && job.world().size() == 1);
}

/// The method that a short trial and the iterations forecast for it show to be quickest, by the
/// slowest rank's time; those that hide a reduction only where there are others to wait for.
Choice collective_choose_method(const Job& job, SolveSystem& system, KrylovMethod::Options options,
                                const CommunicationCost& cost) {
  const solver::StopCriterion asked = options.stop;
  options.stop.tolerance = std::numeric_limits<double>::min();
  options.on_iteration = nullptr;
  const auto* const grid = dynamic_cast<const spmv::StencilOperator*>(&system.op());
  const spmv::GridStencil* const stencil = grid ? &grid->stencil() : nullptr;
  Choice best{&default_method(), ""};
  double least = std::numeric_limits<double>::infinity();
  std::string trials;
  for (const KrylovEntry& entry : solver::krylov_methods()) {
    if (!is_candidate(entry, job, stencil, options)) continue;
    options.stop.max_iterations = entry.needs_grid ? grid_trial_iterations : trial_iterations;
    const auto method = entry.collective_make(system.op(), options);
    const SolveReport trial = method->solve(system.b());
    const double seconds = job.world().max(trial.phases.total()) /
                           static_cast<double>(std::max<std::int64_t>(trial.iterations, 1));
    trials += fmt::format("{}{} {:.3f} ms ({:g} bytes a row)", trials.empty() ? "" : ", ",
                          entry.name, 1e3 * seconds, method->vector_bytes());
    double forecast = 1;
    if (stencil) {
      forecast = solver::forecast_iterations(entry, *stencil, asked);
      trials += fmt::format(" x {:.0f}", forecast);
    }
    if (seconds * forecast < least) {
      least = seconds * forecast;
      best.method = &entry;
    }
  }
  best.why = fmt::format("{} is quickest{}: {}; a reduction alone {:.3f} ms", best.method->name,
                         stencil ? ", an iteration times those expected" : " in an iteration",
                         trials, 1e3 * cost.reduction_seconds);
  return best;
}

/// --dry-run: the report of a solve that only says what memory it would take. Collective.
int show_forecast(const Job& job, const ReportFile& report_file, const spmv::Problem& problem,
                  const MemoryForecast& forecast) {
  Json report = collective_start_report(job, "solve");
  report["problem"] = {{"name", problem.name()}};
  report["memory"]["forecast"] = collective_memory_report(job, forecast);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) {
    fmt::print("problem      {}, {}\n", problem.name(), ranks_and_threads(report));
    print_memory(report["memory"]["forecast"]);
  }
  return 0;
}

int solve(const comm_thread::MpiSession& session, SolveOptions options) {
  const perfmodel::Stopwatch watch;
  options.check();
  if (!options.solution_path.empty()) spmv::check_vector_file(options.solution_path);
  const auto problem = spmv::Problem::parse(options.problem);
  const auto right_hand_side = choose_right_hand_side(options.right_hand_side, problem);
  options.right_hand_side = right_hand_side.name();
  Job job = collective_start_job(session, options.threads, options.strict_placement);
  const ReportFile report_file(job, options.json_path);
  Timeline timeline(job, options.trace_path);
  const Counters counters(job);
  if (!options.solution_path.empty())
    spmv::collective_check_writable(job.world(), options.solution_path);

  MemoryForecast forecast = collective_forecast_solve(job, options, problem);
  if (options.is_dry_run) return show_forecast(job, report_file, problem, forecast);
  collective_check_memory(job, problem.name(), forecast);
  SolveSystem system(job, options, problem, right_hand_side, options.is_matrix_free());
  SolveFacts facts;
  if (options.mode == "auto") {
    const ModeChoice choice = collective_choose_mode(job, system.op());
    options.mode = spmv::name(choice.mode);
    facts.mode_choice = choice.why;
  }
  const auto preconditioner =
      collective_make_preconditioner(job, system, options, problem, forecast, facts);
  ProgressLine progress(job.is_root() && somebody_watches(), options.stop.tolerance);
  std::optional<ResidualHistory> history;
  KrylovMethod::Options method_options{
      .mode = *spmv::parse_mode(options.mode),
      .preconditioner = preconditioner.get(),
      .stop = options.stop,
      .on_iteration = [&](std::int64_t iteration, double residual) {
        progress.update(iteration, residual);
        if (history) history->add(iteration, residual);
      }};
  method_options.multigrid = options.parsed_multigrid();
  if (options.restart > 0) method_options.restart = options.restart;
  facts.communication = collective_measure_communication(job, system.op());
  const bool is_chosen = options.method == "auto";
  const Choice choice =
      is_chosen ? collective_choose_method(job, system, method_options, facts.communication)
                : Choice{solver::find_krylov_method(options.method), ""};
  const KrylovEntry& entry = choice.method ? *choice.method : default_method();
  const auto method = entry.collective_make(system.op(), method_options);
  facts.setup_seconds = watch.seconds();
  MultigridGrids grids(*method, preconditioner.get());
  grids.forget_times();
  timeline.collective_start();
  if (job.is_root()) history.emplace();
  const double schwarz_seconds_before = facts.schwarz ? facts.schwarz->seconds() : 0;
  const SolveReport result = method->solve(system.b());
  if (facts.schwarz) facts.schwarz_seconds = facts.schwarz->seconds() - schwarz_seconds_before;
  progress.clear();
  if (!options.solution_path.empty())
    system.collective_write(job, method->solution(), options.solution_path);

  facts.problem = problem.name();
  facts.rows = static_cast<double>(system.op().global_row_count());
  facts.nonzeros = static_cast<double>(system.nonzero_count());
  facts.matrix_bytes = system.matrix_bytes();
  facts.matrix_format = system.format_name();
  facts.boundary_rows = system.boundary_row_count();
  facts.ordering = system.ordering();
  facts.method = is_chosen ? entry.name : options.method;
  facts.choice = choice.why;
  facts.has_jacobi = options.has_jacobi();
  facts.vector_bytes = method->vector_bytes();
  facts.products = entry.products;
  facts.reductions = entry.reductions;
  facts.smoothing_steps = method_options.multigrid.steps;
  facts.multigrid = grids.collective_report(job, system.op().comm_thread());
  if (!entry.needs_symmetric_matrix) facts.restart = method_options.restart;
  facts.total_seconds = watch.seconds();
  Json report = collective_solve_report(job, options, facts, result);
  report["memory"]["forecast"] = collective_memory_report(job, forecast);
  if (history) report["history"] = history->report();
  timeline.collective_write(report);
  collective_report_phases(job, counters, report);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) {
    print_solve_summary(report);
    print_trace(report);
  }
  return result.status == SolveStatus::converged ? 0 : exit_code_not_converged;
}

}  // namespace

void add_solve_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<SolveOptions>();
  CLI::App& command =
      *program.add_subcommand("solve", "solve A x = b by conjugate gradients, GMRES or multigrid");
  add_solve_options(command, *options);
  add_trace_option(command, *options);
  command.footer(
      "Examples:\n"
      "  weft solve poisson3d:128\n"
      "  weft solve poisson3d:256 --operator stencil --method multigrid\n"
      "  weft solve poisson3d:256 --operator stencil --method cg-one-reduction\n"
      "  weft solve matrix.mtx --preconditioner multigrid --grid 40x50x60\n"
      "  weft solve matrix.mtx.gz --preconditioner jacobi --tolerance 1e-10 --solution x.mtx\n"
      "  mpiexec.mpich -n 4 weft solve matrix.mtx --order rcm --partition metis\n"
      "  weft solve poisson3d:64 --preconditioner schwarz:subdomains=16,overlap=2\n"
      "  weft solve matrix.mtx --method gmres --restart 50 --preconditioner jacobi\n"
      "  weft solve poisson2d:500x300 --rhs random:7 --mode vector --json report.json\n"
      "  mpiexec.mpich -n 4 weft solve poisson3d:200 --operator stencil --method auto\n"
      "  mpiexec.mpich -n 2 weft solve poisson3d:100 --trace trace.json\n"
      "Exit code: 0 converged, 3 not converged, 2 bad input.");
  command.callback([options, &session, &exit_code] { exit_code = solve(session, *options); });
}

}  // namespace weft::tools
