#include "tools/commands/solve_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm_thread/mpi/input_error.h"
#include "library/settings/method_choice.h"
#include "library/settings/preconditioner_choice.h"
#include "library/settings/right_hand_side_choice.h"
#include "perfmodel/stopwatch.h"
#include "solver/amg/preconditioner.h"
#include "solver/choice/decision_table.h"
#include "solver/methods/deflated_solve.h"
#include "solver/methods/method_table.h"
#include "solver/precondition/null_space.h"
#include "spmv/files/matrix_market_output.h"
#include "spmv/formats/matrix_file.h"
#include "spmv/modes/mode.h"
#include "tools/commands/matrix_check.h"
#include "tools/commands/solve_forecast.h"
#include "tools/job/counters.h"
#include "tools/job/exit_codes.h"
#include "tools/job/job.h"
#include "tools/job/progress_line.h"
#include "tools/job/report.h"
#include "tools/job/residual_history.h"
#include "tools/job/timeline.h"
#include "tools/measure/mode_choice.h"
#include "tools/reporting/amg_report.h"
#include "tools/reporting/multigrid_report.h"
#include "tools/reporting/solve_summary.h"
#include "tools/system/linear_system.h"
#include "tools/system/memory_forecast.h"
#include "tools/system/solve_options.h"
#include "tools/system/solve_system.h"

namespace weft::tools {
namespace {

using solver::KrylovEntry;
using solver::KrylovMethod;
using solver::SolveReport;
using solver::SolveStatus;

/// Iterations without progress after which another way is tried.
constexpr std::int64_t patience_with_a_choice = 300;

/// The preconditioner that `options` ask for; null: none. Names the problem in its errors.
std::unique_ptr<solver::Preconditioner> collective_make_preconditioner(
    const Job& job, SolveSystem& system, const SolveOptions& options, const spmv::Problem& problem,
    MemoryForecast& forecast, SolveFacts& facts) {
  const perfmodel::Stopwatch watch;
  try {
    auto made = library::collective_make_preconditioner(
        system.op(), options.settings(), problem, [&](double bytes) {
          // Everything else is there already, and the matrices of the subdomains.
          forecast.parts.push_back(
              {"subdomains", std::max(0.0, resident_bytes() - forecast.bytes())});
          forecast.parts.push_back({"factors", bytes});
          collective_check_memory(job, "--preconditioner " + options.preconditioner_name(),
                                  forecast);
        });
    facts.schwarz = made.schwarz;
    facts.preconditioner_setup_seconds = watch.seconds();
    return std::move(made.object);
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem.name() + ": " + error.what());
  }
}

const KrylovEntry& default_method() { return solver::krylov_methods().front(); }

/// The method that `auto` stands for.
library::MethodChoice collective_choose_method(SolveSystem& system,
                                               const KrylovMethod::Options& options, bool may_drop,
                                               const CommunicationCost& cost) {
  auto choice = library::collective_choose_method(system.op(), options, system.b(), may_drop);
  choice.why += fmt::format("; a reduction alone {:.3f} ms", 1e3 * cost.reduction_seconds);
  return choice;
}

/// A method with its preconditioner, and what came of it.
struct Attempt {
  std::unique_ptr<solver::Preconditioner> preconditioner;
  std::unique_ptr<solver::DeflatedPreconditioner> deflated;  // where the null space is known
  std::unique_ptr<KrylovMethod> method;
  std::unique_ptr<MultigridGrids> grids;
  library::MethodChoice choice;
  KrylovMethod::Options settings;
  MemoryForecast forecast;
  std::optional<ResidualHistory> history;  // of rank 0
  SolveReport result;
};

/// What all attempts share.
struct Setting {
  Job& job;
  SolveSystem& system;
  const spmv::Problem& problem;
  const perfmodel::Stopwatch& watch;
  ProgressLine& progress;
  Timeline& timeline;
  const MemoryForecast& forecast;  // without the factors of Schwarz
  solver::NullSpace* null_space;  // null: none
  bool is_symmetric;
};

/// Makes the preconditioner and the method that `options` name, and solves. `patience`: as of
/// KrylovMethod. Collective. Throws comm_thread::InputError.
Attempt collective_solve(const Setting& setting, const SolveOptions& options, SolveFacts& facts,
                         std::int64_t patience) {
  Job& job = setting.job;
  SolveSystem& system = setting.system;
  Attempt attempt;
  facts.schwarz = nullptr;
  attempt.forecast = setting.forecast;
  attempt.preconditioner = collective_make_preconditioner(job, system, options, setting.problem,
                                                          attempt.forecast, facts);
  if (setting.null_space)
    attempt.deflated = std::make_unique<solver::DeflatedPreconditioner>(
        *setting.null_space, attempt.preconditioner.get());
  std::optional<ResidualHistory> history;
  attempt.settings = {
      .mode = *spmv::parse_mode(options.mode),
      .preconditioner = setting.null_space ? attempt.deflated.get() : attempt.preconditioner.get(),
      .stop = options.stop,
      .patience = patience,
      .on_iteration = [&](std::int64_t iteration, double residual) {
        setting.progress.update(iteration, residual);
        if (history) history->add(iteration, residual);
      }};
  attempt.settings.multigrid = options.settings().parsed_multigrid();
  if (options.restart > 0) attempt.settings.restart = options.restart;
  facts.communication = collective_measure_communication(job, system.op());
  attempt.choice =
      options.method == "auto"
          ? collective_choose_method(system, attempt.settings, options.preconditioner == "none",
                                     facts.communication)
          : library::MethodChoice{solver::find_krylov_method(options.method), ""};
  if (!attempt.choice.method) attempt.choice.method = &default_method();
  if (attempt.choice.drops_preconditioner) {
    attempt.settings.preconditioner = nullptr;
    attempt.preconditioner.reset();
  }
  attempt.method = attempt.choice.method->collective_make(system.op(), attempt.settings);
  facts.setup_seconds = setting.watch.seconds();
  attempt.grids = std::make_unique<MultigridGrids>(*attempt.method, attempt.preconditioner.get());
  attempt.grids->forget_times();
  auto* const amg = dynamic_cast<solver::amg::AmgPreconditioner*>(attempt.preconditioner.get());
  if (amg) amg->forget_times();
  setting.timeline.collective_start();
  if (job.is_root()) history.emplace();
  const double schwarz_seconds_before = facts.schwarz ? facts.schwarz->seconds() : 0;
  attempt.result = setting.null_space
                       ? solver::collective_solve_deflated(*attempt.method, *setting.null_space,
                                                           setting.is_symmetric,
                                                           options.stop.tolerance, system.b())
                       : attempt.method->solve(system.b());
  if (facts.schwarz) facts.schwarz_seconds = facts.schwarz->seconds() - schwarz_seconds_before;
  setting.progress.clear();
  attempt.history = std::move(history);
  return attempt;
}

/// The null space that --null-space names, or that the traits show; null: none. Collective. Throws
/// comm_thread::InputError.
std::unique_ptr<solver::NullSpace> collective_find_null_space(const Job& job, SolveSystem& system,
                                                              const SolveOptions& options,
                                                              const solver::MatrixTraits& traits,
                                                              SolveFacts& facts) {
  const std::string& word = options.null_space;
  if (word == "none" || (word.empty() && !traits.has_constant_null_space())) return nullptr;
  facts.null_space =
      word.empty() ? "constant, because the matrix is an M-matrix whose rows all add up to zero"
                   : word;
  const bool is_file = !word.empty() && word != "constant";
  const std::vector<double> vector =
      is_file ? system.collective_read(job, word) : std::vector<double>{};
  try {
    return std::make_unique<solver::NullSpace>(dynamic_cast<spmv::SparseOperator&>(system.op()),
                                               vector);
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError("--null-space " + word + ": " + error.what());
  }
}

/// Tries `ways` until one converges; the last one, whatever comes of it. `options` get what was
/// tried last. Collective. Throws comm_thread::InputError where the last one refuses the matrix.
Attempt collective_try(const Setting& setting, const std::vector<solver::Candidate>& ways,
                       SolveOptions& options, SolveFacts& facts) {
  for (std::size_t i = 0;; ++i) {
    options.method = ways[i].method;
    options.preconditioner = ways[i].preconditioner;
    const std::string name =
        fmt::format("{} with preconditioner {}", options.method, options.preconditioner);
    facts.decisions.push_back(i == 0 ? name + ": " + ways[i].reason : "turned to " + name);
    const bool is_last = i + 1 == ways.size();
    try {
      Attempt attempt =
          collective_solve(setting, options, facts, is_last ? 0 : patience_with_a_choice);
      const SolveReport& result = attempt.result;
      const bool is_least =  // no other method leaves less
          setting.null_space && result.status == SolveStatus::not_converged &&
          options.stop.is_met(result.recurrence_residual, 1);
      if (is_last || is_least || result.status == SolveStatus::converged) return attempt;
      facts.decisions.push_back(fmt::format(
          "after {} iterations the residual was {:.1e}{}", result.iterations,
          result.relative_residual, result.explanation.empty() ? "" : ": " + result.explanation));
    } catch (const comm_thread::InputError& error) {
      if (is_last) throw;
      facts.decisions.emplace_back(error.what());
    }
  }
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
  const bool is_free = options.set_defaults();
  options.settings().check();
  if (options.is_matrix_free() && !options.null_space.empty())
    throw comm_thread::InputError("--null-space: found with --operator stencil; expected a matrix");
  if (!options.solution_path.empty()) spmv::check_vector_file(options.solution_path);
  const auto problem = spmv::Problem::parse(options.problem);
  const auto right_hand_side = library::choose_right_hand_side(options.right_hand_side, problem);
  options.right_hand_side = right_hand_side.name();
  Job job = collective_start_job(session, options.threads, options.strict_placement);
  const ReportFile report_file(job, options.json_path);
  Timeline timeline(job, options.trace_path);
  const Counters counters(job);
  if (!options.solution_path.empty())
    spmv::collective_check_writable(job.world(), options.solution_path);

  const MemoryForecast forecast = collective_forecast_solve(job, options, problem);
  if (options.is_dry_run) return show_forecast(job, report_file, problem, forecast);
  collective_check_memory(job, problem.name(), forecast);
  SolveSystem system(job, options, problem, right_hand_side, options.is_matrix_free());
  SolveFacts facts;
  std::vector<solver::Candidate> ways;
  std::unique_ptr<solver::NullSpace> null_space;
  bool is_symmetric = true;
  if (const spmv::SparseOperator* const matrix = system.matrix_operator()) {
    const solver::MatrixTraits traits = collective_find_given_traits(job, system, *matrix);
    if (is_free && problem.is_file())
      ways = solver::candidates(traits, {.has_amg = true});
    else
      check_symmetry(options, traits, problem.name());
    is_symmetric = traits.is_symmetric();
    null_space = collective_find_null_space(job, system, options, traits, facts);
  }
  if (options.mode == "auto") {
    const ModeChoice choice = collective_choose_mode(job, system.op());
    options.mode = spmv::name(choice.mode);
    facts.mode_choice = choice.why;
  }
  ProgressLine progress(job.is_root() && somebody_watches(), options.stop.tolerance);
  const Setting setting{job,      system,   problem,          watch,       progress,
                        timeline, forecast, null_space.get(), is_symmetric};
  const Attempt attempt = ways.empty() ? collective_solve(setting, options, facts, 0)
                                       : collective_try(setting, ways, options, facts);
  if (!options.solution_path.empty())
    system.collective_write(job, attempt.method->solution(), options.solution_path);

  const KrylovEntry& entry = *attempt.choice.method;
  facts.problem = problem.name();
  facts.rows = static_cast<double>(system.op().global_row_count());
  facts.nonzeros = static_cast<double>(system.nonzero_count());
  facts.matrix_bytes = system.matrix_bytes();
  facts.matrix_format = system.format_name();
  facts.boundary_rows = system.boundary_row_count();
  facts.ordering = system.ordering();
  facts.method = options.method == "auto" ? entry.name : options.method;
  facts.choice = attempt.choice.why;
  if (!ways.empty())
    facts.command = fmt::format("weft solve {} --method {} --preconditioner {}", options.problem,
                                options.method, options.preconditioner);
  facts.has_jacobi = options.has_jacobi();
  facts.vector_bytes = attempt.method->vector_bytes();
  facts.vector_flops = entry.vector_flops;
  facts.products = entry.products;
  facts.reductions = entry.reductions;
  facts.smoothing_steps = attempt.settings.multigrid.steps;
  facts.multigrid = attempt.grids->collective_report(job, system.op().comm_thread());
  if (auto* const amg = dynamic_cast<solver::amg::AmgPreconditioner*>(attempt.preconditioner.get()))
    facts.amg = collective_amg_report(job, system.op().comm_thread(), amg->report(),
                                      facts.preconditioner_setup_seconds);
  if (entry.has_restart) facts.restart = attempt.settings.restart;
  facts.total_seconds = watch.seconds();
  Json report = collective_solve_report(job, options, facts, attempt.result);
  report["memory"]["forecast"] = collective_memory_report(job, attempt.forecast);
  if (attempt.history) report["history"] = attempt.history->report();
  timeline.collective_write(report);
  collective_report_phases(job, counters, report);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) {
    print_solve_summary(report);
    print_trace(report);
  }
  return attempt.result.status == SolveStatus::converged ? 0 : exit_code_not_converged;
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
      "  weft solve matrix.mtx      (chooses method and preconditioner, and says why)\n"
      "  weft solve poisson3d:256 --operator stencil --method multigrid\n"
      "  weft solve poisson3d:256 --operator stencil --method cg-one-reduction\n"
      "  weft solve matrix.mtx --preconditioner multigrid --grid 40x50x60\n"
      "  weft solve matrix.mtx.gz --preconditioner jacobi --tolerance 1e-10 --solution x.mtx\n"
      "  mpiexec.mpich -n 4 weft solve matrix.mtx --order rcm --partition metis\n"
      "  weft solve poisson3d:64 --preconditioner schwarz:subdomains=16,overlap=2\n"
      "  weft solve matrix.mtx --method gmres --restart 50 --preconditioner jacobi\n"
      "  weft solve matrix.mtx.gz --preconditioner amg\n"
      "  weft solve poisson2d:500x300 --rhs random:7 --mode vector --json report.json\n"
      "  mpiexec.mpich -n 4 weft solve poisson3d:200 --operator stencil --method auto\n"
      "  mpiexec.mpich -n 2 weft solve poisson3d:100 --trace trace.json\n"
      "Exit code: 0 converged, 3 not converged, 2 bad input.");
  command.callback([options, &session, &exit_code] { exit_code = solve(session, *options); });
}

}  // namespace weft::tools
