#include "tools/commands/schwarz_command.h"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "library/system/schwarz_system.h"
#include "tools/commands/sweep_command.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/reporting/schwarz_report.h"
#include "tools/system/checkpoint_options.h"
#include "tools/system/schwarz_options.h"

namespace weft::tools {
namespace {

void print_schwarz_summary(const Json& report, const SchwarzOptions& options) {
  const Json& problem = report["problem"];
  const Json& run = report["schwarz"];
  const std::string cut = run["decomposition"].get<std::string>();
  fmt::print("problem      {}: {} rows, b = {}\n", problem["name"], problem["rows"],
             problem["right_hand_side"]);
  fmt::print("run          {}, {}, {}, subdomains {}\n", library::name(options.variant),
             options.is_sync() ? spmv::name(options.mode) + std::string(" mode")
                               : "transport " + comm_thread::name(options.transport),
             ranks_and_threads(report), cut == "in order" ? cut : "in " + cut + " boxes");
  print_schwarz_run(run);
  print_findings(report);
}

int schwarz(const comm_thread::MpiSession& session, const SchwarzOptions& options) {
  return collective_sweep_command(
      session, "schwarz", options,
      [&](const Job& job) { return library::forecast_schwarz(job.world(), options); },
      [&](Job& job) { return std::make_unique<library::SchwarzSystem>(job, options); },
      [](const library::SchwarzSystem&) { return std::string(); },
      [&](Json& report, const Job& job, const library::SchwarzSystem& system,
          const library::SchwarzRun& run) {
        report["problem"] = schwarz_system_report(system, options);
        report["method"] = "schwarz";
        report["schwarz"] = collective_schwarz_report(job, system, options, run);
      },
      [&](const Json& report) { print_schwarz_summary(report, options); });
}

}  // namespace

void add_schwarz_command(CLI::App& program, const comm_thread::MpiSession& session,
                         int& exit_code) {
  const auto options = std::make_shared<SchwarzOptions>();
  CLI::App& command = *program.add_subcommand(
      "schwarz", "2-D Poisson by optimized Schwarz, subdomain by subdomain");
  add_schwarz_options(command, *options);
  add_sweep_checkpoint_options(command, options->checkpoints);
  add_alpha_option(command, *options);
  add_job_options(command, *options);
  add_trace_option(command, *options);
  command.footer(
      "Examples:\n"
      "  weft schwarz --subdomains 12 --points 64\n"
      "  mpiexec.mpich -n 2 weft schwarz --subdomains 42 --points 64 --alpha 0.0023\n"
      "  mpiexec.mpich -n 2 weft schwarz --subdomains 24 --points 64 --coarse linear\n"
      "  mpiexec.mpich -n 4 weft schwarz --subdomains 8 --points 32 --alpha inf --overlap 4\n"
      "  mpiexec.mpich -n 2 weft schwarz --subdomains 24 --points 64 --variant async\n"
      "    --transport one-sided:flush --inject slow:1:8\n"
      "For other matrices: weft jacobi MATRIX --inner schwarz, weft solve MATRIX\n"
      "  --preconditioner schwarz\n"
      "Exit code: 0 converged, 3 not converged, 2 bad input, 128 + N: ended by signal N with\n"
      "a checkpoint.");
  command.callback([options, &command, &session, &exit_code] {
    options->check(command);
    exit_code = schwarz(session, *options);
  });
}

}  // namespace weft::tools
