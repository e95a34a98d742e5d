#include "tools/commands/jacobi_command.h"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "library/system/jacobi_system.h"
#include "tools/commands/sweep_command.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/reporting/jacobi_report.h"
#include "tools/reporting/run_output.h"
#include "tools/system/checkpoint_options.h"
#include "tools/system/jacobi_options.h"
#include "tools/system/program_system.h"

namespace weft::tools {
namespace {

void print_jacobi_summary(const Json& report, const JacobiOptions& options) {
  const Json& problem = report["problem"];
  const Json& run = report["jacobi"];
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  const bool is_sync = options.is_sync();
  const std::string decomposition = text(run["decomposition"]);
  fmt::print("problem      {}: {} rows, b = {}\n", problem["name"], problem["rows"],
             problem["right_hand_side"]);
  fmt::print(
      "run          {}{}, transport {}, {}{}\n", library::name(options.variant),
      is_sync && !options.is_threaded ? fmt::format(" in {} mode", spmv::name(options.mode)) : "",
      options.transport_name(), ranks_and_threads(report),
      decomposition.empty() ? "" : " as " + decomposition);
  print_run(run);
  print_findings(report);
}

int jacobi(const comm_thread::MpiSession& session, const JacobiOptions& options) {
  return collective_sweep_command(
      session, "jacobi", options,
      [&](const Job& job) {
        return library::collective_forecast_jacobi(job.world(), options.problem, options);
      },
      [&](Job& job) {
        return std::make_unique<library::JacobiSystem>(job, options.problem, options,
                                                       printing_remarks(job));
      },
      [&](const library::JacobiSystem& system) {
        return warning_about_convergence(system, options);
      },
      [&](Json& report, const Job& job, const library::JacobiSystem& system,
          const library::JacobiRun& run) {
        report["problem"] = system_report(system);
        report["method"] = options.method();
        report["jacobi"] = collective_run_report(job, system, options, run);
      },
      [&](const Json& report) { print_jacobi_summary(report, options); });
}

}  // namespace

void add_jacobi_command(CLI::App& program, const comm_thread::MpiSession& session, int& exit_code) {
  const auto options = std::make_shared<JacobiOptions>();
  CLI::App& command =
      *program.add_subcommand("jacobi", "sweep: synchronous, asynchronous or racy Jacobi");
  add_jacobi_options(command, *options);
  add_sweep_checkpoint_options(command, options->checkpoints);
  add_job_options(command, *options);
  add_trace_option(command, *options);
  command.footer(
      "Examples:\n"
      "  weft jacobi --grid 100                                   synchronous, one process\n"
      "  mpiexec.mpich -n 4 weft jacobi --grid 50x50x200 --variant async\n"
      "  mpiexec.mpich -n 2 weft jacobi --grid 100 --variant racy --inject slow:1:2\n"
      "  weft jacobi --grid 100 --variant racy --transport openmp --threads 4\n"
      "  weft jacobi matrix.mtx --variant async --inner cg:1e-2 --json report.json\n"
      "  mpiexec.mpich -n 2 weft jacobi matrix.mtx --inner schwarz:partition=metis,kind=optimized\n"
      "tools/run jacobi ... --plot FILE.svg draws the report.\n"
      "Exit code: 0 converged, 3 not converged, 2 bad input, 128 + N: ended by signal N with\n"
      "a checkpoint.");
  command.callback([options, &command, &session, &exit_code] {
    options->check(command);
    exit_code = jacobi(session, *options);
  });
}

}  // namespace weft::tools
