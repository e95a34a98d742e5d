#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "perfmodel/stopwatch.h"
#include "solver/simulation/schwarz_simulation.h"
#include "tools/commands/simulation_options.h"
#include "tools/job/effective_options.h"
#include "tools/job/job_report.h"
#include "tools/job/program_job.h"
#include "tools/job/system_options.h"
#include "tools/reporting/report_table.h"

namespace weft::tools {
namespace {

struct SimulateSchwarzOptions : SimulateSweepsOptions {
  SimulateSchwarzOptions() {
    machine.machine = "cori-haswell";
    variants = {"sync", "async"};
    detector = "flags";
  }
  solver::SchwarzSimulationOptions schwarz;
};

void print_simulate_schwarz_summary(const Json& report) {
  const Json& simulation = report["simulation"];
  fmt::print("problem      2-D Poisson, {0}x{0} tiles of {1}^2 points, of which {2}^2 are real\n",
             simulation["subdomains"], simulation["points"], simulation["real_points"]);
  fmt::print("alpha        {:.4g} of the real tiles\n", simulation["alpha"]);
  print_machine(simulation["machine"]);
  print_table({column("ranks", 8, "/simulated_ranks"), column("variant", 8, "/variant"),
               column("seed", 6, "/seed"), column("seconds", 12, "/seconds", "{:.4g}"),
               range_column("iterations", 12, "/iterations/min", "/iterations/max"),
               ratio_column("ms/iteration", 14, "/seconds", "/iterations/mean", "{:.4g}", 1e3),
               column("staleness", 11, "/mean_staleness", "{:.2f}"),
               column("residual", 11, "/relative_residual", "{:.1e}"),
               column("wall s", 9, "/wall_seconds", "{:.2f}")},
              simulation["runs"]);
}

int simulate(const comm_thread::MpiSession& session, const SimulateSchwarzOptions& options) {
  const perfmodel::Stopwatch watch;
  solver::SchwarzSimulationOptions schwarz = options.schwarz;
  options.complete(schwarz);
  schwarz.rank_count = schwarz.tiles_per_side * schwarz.tiles_per_side;
  Job job = collective_start_job(session, options);
  collective_expect_one_rank(job, "simulate");
  const ReportFile report_file(job, options.json_path);
  schwarz.alpha = solver::alpha_of(schwarz);
  Json runs = simulated_runs(options, schwarz, solver::simulate_schwarz);
  collective_finish_simulation(job, report_file, "schwarz", watch.seconds(),
                               {{"machine", machine_report(schwarz.machine)},
                                {"subdomains", schwarz.tiles_per_side},
                                {"points", schwarz.points},
                                {"real_points", schwarz.real_points},
                                {"alpha", schwarz.alpha},
                                {"transport", options.transport},
                                {"detector", options.detector},
                                {"tolerance", schwarz.tolerance},
                                {"runs", std::move(runs)}},
                               print_simulate_schwarz_summary);
  return 0;
}

}  // namespace

void add_simulate_schwarz(CLI::App& simulate_app, const comm_thread::MpiSession& session,
                          int& exit_code) {
  const auto options = std::make_shared<SimulateSchwarzOptions>();
  solver::SchwarzSimulationOptions& schwarz = options->schwarz;
  CLI::App& command =
      *simulate_app.add_subcommand("schwarz", "optimized Schwarz on a square, one tile a rank");
  add_count(command, "--subdomains", schwarz.tiles_per_side, 1, 1024,
            "tiles along each side: the simulated run has as many ranks as tiles");
  add_count(command, "--points", schwarz.points, 2, 10'000,
            "points along each side of a tile: what time is charged for");
  add_count(command, "--real-points", schwarz.real_points, 2, 256,
            "points along each side that are really solved for it");
  command
      .add_option("--alpha", schwarz.alpha,
                  "of the transmission condition between the real tiles; 0: the best by theory")
      ->check(is_number(library::zero_or_more))
      ->capture_default_str();
  add_sweep_options(command, *options, schwarz,
                    "as --variant of weft schwarz; sync is the same in every --mode there: a tile "
                    "has no interior",
                    "relative residual of each tile to reach");
  add_tile_options(command, options->machine);
  show_in_help(command, library::OptionGroup::problem, {"--subdomains", "--points"});
  show_in_help(command, library::OptionGroup::method,
               {"--variants", "--alpha", "--detector", "--tolerance", "--max-iterations"});
  show_in_help(command, library::OptionGroup::run, {"--machine", "--transport"});
  command.footer("Example:\n  weft simulate schwarz --subdomains 12 --points 64 --slow 7:2");
  command.callback([options, &command, &session, &exit_code] {
    check_needs(command, {options->need_of_channels()});
    exit_code = simulate(session, *options);
  });
}

}  // namespace weft::tools
