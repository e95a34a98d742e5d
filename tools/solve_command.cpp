#include "tools/solve_command.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "comm_thread/input_error.h"
#include "perfmodel/traffic_model.h"
#include "solver/conjugate_gradient.h"
#include "spmv/matrix_market_output.h"
#include "spmv/matrix_market_vector.h"
#include "spmv/mode.h"
#include "tools/job.h"
#include "tools/linear_system.h"
#include "tools/progress_line.h"
#include "tools/report.h"
#include "tools/stopwatch.h"
#include "tools/system_options.h"

namespace weft::tools {
namespace {

using perfmodel::Phase;
using solver::Preconditioner;
using solver::SolveReport;
using solver::SolveStatus;

constexpr int exit_code_not_converged = 3;

struct SolveOptions : SystemOptions {
  std::string right_hand_side;
  std::string mode = "task";
  std::string method = "cg";
  std::string solution_path;
  solver::StopCriterion stop;
};

/// Sizes and times that the report is made of.
struct SolveFacts {
  std::string problem;
  double rows = 0;
  double nonzeros = 0;
  double matrix_bytes = 0;  // as stored, all ranks
  std::string matrix_format;
  std::int64_t boundary_rows = 0;
  double setup_seconds = 0;
  double total_seconds = 0;
};

Json performance_report(const SolveOptions& options, const SolveFacts& facts,
                        const SolveReport& solve) {
  const bool jacobi = options.method == "pcg-jacobi";
  const double iterations = static_cast<double>(std::max<std::int64_t>(solve.iterations, 1));
  const double seconds = solve.phases.total() / iterations;
  const double flops = perfmodel::conjugate_gradient_flops(facts.nonzeros, facts.rows, jacobi);
  const double bytes =
      facts.matrix_bytes + perfmodel::conjugate_gradient_vector_bytes(jacobi) * facts.rows;
  return {{"gflops", seconds > 0 ? flops / seconds * 1e-9 : 0},
          {"seconds_per_iteration", seconds},
          {"model_bytes_per_iteration", bytes},
          {"model_bandwidth_gb_per_second", seconds > 0 ? bytes / seconds * 1e-9 : 0},
          {"matrix_format", facts.matrix_format},
          {"boundary_row_fraction", static_cast<double>(facts.boundary_rows) / facts.rows}};
}

Json collective_phases_report(const Job& job, const SolveReport& solve) {
  Json phases;
  for (std::size_t i = 0; i < perfmodel::phase_count; ++i) {
    const auto phase = static_cast<Phase>(i);
    phases[perfmodel::name(phase)] = collective_spread(job, solve.phases[phase]);
  }
  phases["communication_thread_cpu"] = collective_spread(job, solve.comm_thread_cpu_seconds);
  return phases;
}

Json collective_solve_report(const Job& job, const SolveOptions& options, const SolveFacts& facts,
                             const SolveReport& solve) {
  Json report = collective_start_report(job, "solve");
  report["problem"] = {{"name", facts.problem},
                       {"rows", static_cast<std::int64_t>(facts.rows)},
                       {"nonzeros", static_cast<std::int64_t>(facts.nonzeros)},
                       {"right_hand_side", options.right_hand_side}};
  report["method"] = options.method;
  report["mode"] = options.mode;
  report["status"] = solver::name(solve.status);
  if (!solve.explanation.empty()) report["explanation"] = solve.explanation;
  report["iterations"] = solve.iterations;
  report["relative_residual"] = solve.relative_residual;
  report["recurrence_residual"] = solve.recurrence_residual;
  report["tolerance"] = options.stop.tolerance;
  report["seconds"] = {{"total", facts.total_seconds},
                       {"setup", facts.setup_seconds},
                       {"solve", solve.solve_seconds}};
  report["phases"] = collective_phases_report(job, solve);
  report["performance"] = performance_report(options, facts, solve);
  return report;
}

void print_phases(const Json& phases) {
  fmt::print("\n{:<26}{:>10}{:>10}{:>10}\n", "phase, seconds per rank", "min", "mean", "max");
  for (const auto& [phase, spread] : phases.items()) {
    std::string label = phase;
    std::replace(label.begin(), label.end(), '_', ' ');
    fmt::print("  {:<24}{:>10.3f}{:>10.3f}{:>10.3f}\n", label, spread["min"].get<double>(),
               spread["mean"].get<double>(), spread["max"].get<double>());
  }
}

void print_summary(const Json& report) {
  const Json& problem = report["problem"];
  const Json& seconds = report["seconds"];
  const Json& performance = report["performance"];
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  fmt::print("problem      {}: {} rows, {} nonzeros, b = {}\n", text(problem["name"]),
             problem["rows"].get<std::int64_t>(), problem["nonzeros"].get<std::int64_t>(),
             text(problem["right_hand_side"]));
  fmt::print("run          {}, {} mode, {}, matrix as {}\n", text(report["method"]),
             text(report["mode"]), ranks_and_threads(report), text(performance["matrix_format"]));
  fmt::print("result       {} after {} iterations\n", text(report["status"]),
             report["iterations"].get<std::int64_t>());
  if (report.contains("explanation")) fmt::print("             {}\n", text(report["explanation"]));
  fmt::print("residual     {:.3e} true, {:.3e} by recurrence, tolerance {:g}\n",
             report["relative_residual"].get<double>(), report["recurrence_residual"].get<double>(),
             report["tolerance"].get<double>());
  fmt::print("time         {:.3f} s: set-up {:.3f} s, solve {:.3f} s\n",
             seconds["total"].get<double>(), seconds["setup"].get<double>(),
             seconds["solve"].get<double>());
  fmt::print("performance  {:.2f} GFLOP/s, {:.3f} ms per iteration, {:.1f} GB/s by the model\n",
             performance["gflops"].get<double>(),
             1e3 * performance["seconds_per_iteration"].get<double>(),
             performance["model_bandwidth_gb_per_second"].get<double>());
  print_phases(report["phases"]);
  const std::string findings = findings_as_text(report["placement"]);
  if (!findings.empty()) fmt::print("\n{}", findings);
}

/// Names the problem in what is wrong with it.
solver::ConjugateGradient collective_make_method(spmv::SparseOperator& op,
                                                 const SolveOptions& options,
                                                 const spmv::Problem& problem,
                                                 ProgressLine& progress) {
  try {
    return {op,
            {.mode = *spmv::parse_mode(options.mode),
             .preconditioner =
                 options.method == "pcg-jacobi" ? Preconditioner::jacobi : Preconditioner::none,
             .stop = options.stop,
             .on_iteration = [&](std::int64_t iteration, double residual) {
               progress.update(iteration, residual);
             }}};
  } catch (const comm_thread::InputError& error) {
    throw comm_thread::InputError(problem.name() + ": " + error.what());
  }
}

int solve(const comm_thread::MpiSession& session, SolveOptions options) {
  const Stopwatch watch;
  const auto problem = spmv::Problem::parse(options.problem);
  const auto right_hand_side = choose_right_hand_side(options.right_hand_side, problem);
  options.right_hand_side = right_hand_side.name();
  Job job(session, options.threads, options.strict_placement);
  const ReportFile report_file(job, options.json_path);
  if (!options.solution_path.empty())
    spmv::collective_check_writable(job.world(), options.solution_path);

  spmv::SparseOperator op(job.comm_thread_world(), job.comm_thread(), job.team(),
                          collective_load_matrix(job, problem, options),
                          parse_format(options.format));
  const auto b = collective_build_right_hand_side(job, op, problem, right_hand_side);
  ProgressLine progress(job.is_root() && somebody_watches(), options.stop.tolerance);
  auto method = collective_make_method(op, options, problem, progress);
  SolveFacts facts;
  facts.setup_seconds = watch.seconds();
  const SolveReport result = method.solve(b.span());
  progress.clear();
  if (!options.solution_path.empty())
    spmv::collective_write_vector(job.world(), op.matrix().matrix().partition, method.solution(),
                                  options.solution_path);

  facts.problem = problem.name();
  facts.rows = static_cast<double>(op.matrix().matrix().partition.row_count());
  facts.nonzeros = static_cast<double>(op.matrix().matrix().global_nonzero_count);
  facts.matrix_bytes = static_cast<double>(job.world().sum(op.matrix().matrix_bytes()));
  facts.matrix_format = op.matrix().format_name();
  facts.boundary_rows = job.world().sum(op.matrix().boundary_row_count());
  facts.total_seconds = watch.seconds();
  const Json report = collective_solve_report(job, options, facts, result);
  report_file.collective_write(report);
  if (job.is_root() && !report_file.is_standard_output()) print_summary(report);
  return result.status == SolveStatus::converged ? 0 : exit_code_not_converged;
}

/// The number that is all of `text`; NaN when it is not one.
double number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : std::nan("");
}

std::string fault_of_tolerance(const std::string& text) {
  const double tolerance = number_in(text);
  return tolerance > 0 && std::isfinite(tolerance)
             ? ""
             : "found '" + text + "'; expected a number above 0";
}

std::string fault_of_iterations(const std::string& text) {
  std::int64_t iterations = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), iterations);
  return error == std::errc() && end == text.data() + text.size() && iterations >= 0
             ? ""
             : "found '" + text + "'; expected a whole number, 0 or more";
}

}  // namespace

void add_solve_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<SolveOptions>();
  CLI::App& command = *program.add_subcommand("solve", "solve A x = b by conjugate gradients");
  add_problem_options(command, *options);
  command
      .add_option("--rhs", options->right_hand_side,
                  "right-hand side: ones, boundary-one, random:SEED, x-random:SEED or a\n"
                  "Matrix Market array file; default: boundary-one for grids, random:1 "
                  "for\nirregular, ones for files")
      ->type_name("RHS");
  command
      .add_option("--method", options->method, "cg, or pcg-jacobi for a diagonal preconditioner")
      ->check(CLI::IsMember({"cg", "pcg-jacobi"}))
      ->type_name("cg|pcg-jacobi")
      ->capture_default_str();
  command
      .add_option("--mode", options->mode,
                  "how the halo travels: vector (first), overlap (MPI, meanwhile) or task\n"
                  "(the communication thread, meanwhile); the result is the same to the last bit")
      ->check(CLI::IsMember({"vector", "overlap", "task"}))
      ->type_name("vector|overlap|task")
      ->capture_default_str();
  command
      .add_option("--tolerance", options->stop.tolerance,
                  "stop when the residual norm has fallen by this factor")
      ->check(fault_of_tolerance)
      ->capture_default_str();
  command.add_option("--max-iterations", options->stop.max_iterations, "stop after so many")
      ->check(fault_of_iterations)
      ->capture_default_str();
  add_format_option(command, *options);
  command
      .add_option("--solution", options->solution_path,
                  "write x as a Matrix Market array, .mtx or .mtx.gz")
      ->type_name("FILE");
  add_job_options(command, *options);
  command.footer(
      "Examples:\n"
      "  weft solve poisson3d:128\n"
      "  weft solve matrix.mtx.gz --method pcg-jacobi --tolerance 1e-10 --solution x.mtx\n"
      "  weft solve poisson2d:500x300 --rhs random:7 --mode vector --json report.json\n"
      "Exit code: 0 converged, 3 not converged, 2 bad input.");
  command.callback([options, &session, &exit_code] { exit_code = solve(session, *options); });
}

}  // namespace weft::tools
